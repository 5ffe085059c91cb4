"""``gnt lab``: the learner's copies of the notebooks, their updates, and JupyterLab on them."""
