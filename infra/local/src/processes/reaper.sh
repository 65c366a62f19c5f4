#!/bin/sh
# Ends the children of a launcher that has ended: see guard.ts. Reads lists of pids until its input closes, then ends the pids
# of the last list and removes the directory $1, if any.
trap "" INT TERM HUP
pids=""
while read -r line; do pids=$line; done

any_left() {
  for pid in $pids; do kill -0 "$pid" 2>/dev/null && return 0; done
  return 1
}

# SIGINT is the fast stop of PostgreSQL and a normal stop for everything else. A paused process needs SIGCONT to handle it.
for pid in $pids; do
  kill -INT "$pid" 2>/dev/null
  kill -CONT "$pid" 2>/dev/null
done
rounds=0
while [ $rounds -lt 80 ] && any_left; do
  sleep 0.1
  rounds=$((rounds + 1))
done
for pid in $pids; do kill -KILL "$pid" 2>/dev/null; done
if [ -n "$1" ]; then rm -rf -- "$1"; fi
