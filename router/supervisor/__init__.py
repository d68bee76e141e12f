"""All routers of one machine as processes: started, watched, restarted, stopped. `tamis up` and `tamis down` show it."""
