"""Messages published and received, questions asked and answered."""
