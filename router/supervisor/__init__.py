"""All routers of one machine as processes: started, watched, restarted, stopped, as `tamis up` and `down` do."""
