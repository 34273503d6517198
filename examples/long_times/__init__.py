"""Problems with long times: time windows beside one interval with the same time."""
