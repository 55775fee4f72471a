-- What waited before there was a queue may be placed at once.

UPDATE workload SET time_ready = time_created WHERE state = 'pending' AND time_ready IS NULL;
