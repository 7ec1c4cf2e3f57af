"""What people look at: figures and pages, drawn from records alone."""
