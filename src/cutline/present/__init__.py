"""What people see: tables and sentences, plots, and the page."""
