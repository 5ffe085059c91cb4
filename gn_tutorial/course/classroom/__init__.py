"""A class: the submissions of many learners judged (``gnt judge``), their progress summed up (``gnt class report``)."""
