"""The routers of one machine as processes: started, watched, restarted and stopped, by `tamis up` and `down`."""
