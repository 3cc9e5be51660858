"""Support vector machines whose kernel is computed or learned from similarities, which may be indefinite."""
