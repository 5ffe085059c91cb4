"""A class: judging many learners' submissions (``gnt judge``), reporting their progress (``gnt class report``)."""
