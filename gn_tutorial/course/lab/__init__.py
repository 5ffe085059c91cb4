"""``gnt lab``: the learner's copies of the notebooks, how they follow the course, and JupyterLab on them."""
