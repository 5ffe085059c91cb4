"""The timing model beside published launches of production operators: ``python -m tools.published_launches``."""
