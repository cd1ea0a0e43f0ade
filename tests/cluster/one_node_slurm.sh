#!/usr/bin/env bash
# Runs a command beside a Slurm of this machine alone, which is ended afterwards:
#   one_node_slurm.sh COMMAND...
# munged, slurmctld and slurmd run with keys, sockets, ports and states of their own in a temporary
# folder, so that nothing of the system's own Slurm is touched. Takes root. Where the programs are not
# installed or this user is not root, the test is skipped (skipped.sh); where the Slurm does not come up, it
# fails.
# No cgroups: processes are followed by their parents (linuxproc), so that it also runs in a container. A
# task is therefore not held to its share of the cores or of the memory.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
PATH=$PATH:/usr/sbin:/sbin
for program in munged slurmctld slurmd sbatch; do
  command -v $program > /dev/null || exec "$here/skipped.sh" "$program is not installed"
done
[ "$(id -u)" -eq 0 ] || exec "$here/skipped.sh" "to start a Slurm of this machine takes root"

# munged takes folders that only their owner can change; the sticky /tmp is one.
folder=$(mktemp -d /tmp/slurm-XXXXXX)
chmod 755 "$folder"
daemons=()
finish() {
  trap '' TERM INT
  local daemon
  # What a job started would live on without Slurm.
  timeout 10 scancel --user=root 2> /dev/null && within_seconds 15 has_no_job
  for ((i = ${#daemons[@]} - 1; i >= 0; --i)); do
    daemon=${daemons[i]}
    kill "$daemon" 2> /dev/null || continue
    for _ in $(seq 1 100); do
      kill -0 "$daemon" 2> /dev/null || break
      sleep 0.1
    done
    kill -9 "$daemon" 2> /dev/null || true
  done
  rm -rf "$folder"
}
trap finish EXIT
trap 'exit 143' TERM INT
not_up() {
  echo "FAILED: $*" >&2
  tail -n 20 "$folder"/*.log >&2
  exit 1
}
# free_port: one that the kernel gives, hence none that is in use.
free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}
# within_seconds N COMMAND...: tries until it succeeds.
within_seconds() {
  local tries=$(($1 * 5))
  shift
  for _ in $(seq 1 $tries); do
    ! "$@" > /dev/null 2>&1 || return 0
    sleep 0.2
  done
  return 1
}

has_no_job() { [ -z "$(timeout 10 squeue --noheader)" ]; }

mkdir -m 700 "$folder/munge" "$folder/state" "$folder/spool"
chmod 755 "$folder/munge"
head -c 128 /dev/urandom > "$folder/munge.key"
chmod 400 "$folder/munge.key"
munged --foreground --socket="$folder/munge/socket" --key-file="$folder/munge.key" \
  --pid-file="$folder/munge/pid" --seed-file="$folder/munge/seed" --log-file="$folder/munge/munged.log" \
  > "$folder/munged.log" 2>&1 &
daemons+=($!)
within_seconds 20 munge --no-input --socket="$folder/munge/socket" || not_up "munged gives no credential"

node=$(uname -n)
node=${node%%.*}
cores=$(nproc)
cat > "$folder/slurm.conf" << CONF
ClusterName=one_node
SlurmctldHost=$node(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
CredType=cred/munge
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
# Tasks start and end at once rather than at the next round of a busy cluster.
SchedulerParameters=sched_min_interval=100000,bf_interval=1,batch_sched_delay=0
SlurmdParameters=config_overrides
MinJobAge=5
KillWait=5
ReturnToService=2
NodeName=$node NodeAddr=127.0.0.1 CPUs=$cores RealMemory=$(awk '/^MemTotal:/ { print int($2 / 1024) }' /proc/meminfo) State=UNKNOWN
PartitionName=all Nodes=$node Default=YES MaxTime=INFINITE State=UP
CONF
# Versions from 23 on load a plugin of cgroups even so, unless it is disabled; earlier ones do not know that.
if [[ $(slurmd -V) =~ ([0-9]+)\. ]] && [ "${BASH_REMATCH[1]}" -ge 23 ]; then
  echo "CgroupPlugin=disabled" > "$folder/cgroup.conf"
fi
export SLURM_CONF=$folder/slurm.conf
slurmctld -D -f "$SLURM_CONF" > "$folder/slurmctld.out.log" 2>&1 &
daemons+=($!)
slurmd -D -f "$SLURM_CONF" > "$folder/slurmd.out.log" 2>&1 &
daemons+=($!)
is_idle() { [ -n "$(timeout 10 sinfo --noheader --states=idle)" ]; }
within_seconds 60 is_idle || not_up "no node is idle: $(sinfo --noheader --format='%N %T %E' 2>&1)"
within_seconds 60 timeout 20 srun true || not_up "srun runs no task"

"$@" && code=0 || code=$?
[ "$code" -eq 0 ] || tail -n 20 "$folder"/slurm*.log >&2
exit "$code"
