"""Writes to standard output without end, a pipe's worth in less than a second, and counts in a file how
often it could."""

import os
import sys
import time

CHUNK = b"x" * 4095 + b"\n"

file = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT, 0o600)
count = 0
while True:
    os.write(1, CHUNK)
    count += 1
    os.pwrite(file, b"%012d" % count, 0)
    time.sleep(0.02)
