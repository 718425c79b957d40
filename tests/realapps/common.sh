# SPDX-License-Identifier: MIT
#
# common.sh - shared helpers for the real-application workloads.  Source it.
# packages: gcc bash coreutils procps util-linux
#
# Interface of every workload:  NAME.sh [LIB.so|""] [K=V ...]
#   env DURATION  seconds of timed load (servers) - default differs per workload
#   env SCALE     work multiplier of batch workloads (default 1)
#   env KEEP=1    keep the work directory
#   env BASE      where pre-made data and work dirs live (default $TMPDIR/realapps)
# One final line: RESULT workload=… ok=… metric=… unit=… higher_is_better=… rss_kb=… rss_end_kb=… cpu_cost=…
#   cpu_cost: CPU time of the program under test per unit of work (seconds for fixed work,
#   microseconds per operation for timed servers); lower is better
set -u
export LC_ALL=C
RA=${RA:-$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)}
BASE=${BASE:-${TMPDIR:-/tmp}/realapps}
WL=$(basename "$0" .sh)
LIB=${1:-}
[ $# -gt 0 ] && shift
XENV=("$@")
unset LD_PRELOAD            # never inherit one: only the program under test gets it
SCALE=${SCALE:-1}
DATA=$BASE/data
mkdir -p "$DATA" "$BASE/run"
if [ -n "$LIB" ]; then
  [ -r "$LIB" ] || { echo "RESULT workload=$WL ok=0 metric=0 unit=none higher_is_better=1 rss_kb=0 rss_end_kb=0 why=no-such-lib"; exit 1; }
  LIB=$(cd "$(dirname "$LIB")" && pwd)/$(basename "$LIB")
  LIBBASE=$(basename "$(readlink -f "$LIB")")
else
  LIBBASE=
fi
W=$BASE/run/$WL.$$
rm -rf "$W"; mkdir -p "$W"; chmod 755 "$W"
LOG=$W/log; : >"$LOG"
OK=1; WHY=; PIDS=(); RSS=0; RSSEND=0; METRIC=0; UNIT=s; HIB=0; CPU=0
RMEAS=$BASE/bin/rmeas
mkdir -p "$BASE/bin"; [ -x "$RMEAS" ] || gcc -O2 -static -o "$RMEAS" "$RA/bin/rmeas.c"

say()  { echo "# $*"; }
bad()  { OK=0; WHY="${WHY:+$WHY,}$(echo "$*" | tr ' ,' '__' | cut -c1-160)"; echo "# FAIL: $*" >&2; }
now()  { date +%s.%N; }
calc() { awk "BEGIN{printf \"%.3f\", $*}"; }
# environment prefix for the program under test
penv() { local e=(); [ -n "$LIB" ] && e+=("LD_PRELOAD=$LIB"); e+=(${XENV[@]+"${XENV[@]}"}); printf '%s\n' ${e[@]+"${e[@]}"}; }
PENV=(); while IFS= read -r l; do [ -n "$l" ] && PENV+=("$l"); done < <(penv)

# pstart VAR LOGFILE cmd… : start a server under test in the background, keep its pid
# (env execs, so $! is the server itself unless the server daemonises)
pstart() { local v=$1 lf=$2; shift 2
  env ${PENV[@]+"${PENV[@]}"} "$@" >>"$lf" 2>&1 & 
  local p=$!; PIDS+=("$p"); printf -v "$v" %s "$p"; }
alive() { kill -0 "$1" 2>/dev/null; }
# pstop PID [TERM] [seconds] : stop by pid and reap; prints nothing; sets STOPRC
pstop() { local p=$1 s=${2:-TERM} n=${3:-20} i
  STOPRC=0
  if alive "$p"; then kill -"$s" "$p" 2>/dev/null
    for ((i=0;i<n*20;i++)); do alive "$p" || break; sleep 0.05; done
    if alive "$p"; then bad "pid $p did not stop on $s"; kill -KILL "$p" 2>/dev/null; fi
  fi
  wait "$p" 2>/dev/null; STOPRC=$?
  local q=(); for i in ${PIDS[@]+"${PIDS[@]}"}; do [ "$i" = "$p" ] || q+=("$i"); done; PIDS=(${q[@]+"${q[@]}"}); }
waitfor() { local n=$1 e=$((SECONDS+$1)); shift; while :; do "$@" >/dev/null 2>&1 && return 0; [ $SECONDS -ge $e ] && return 1; sleep 0.1; done; }
vmkb()  { awk -v k="$2:" '$1==k{print $2}' "/proc/$1/status" 2>/dev/null || echo 0; }
hwm()   { local v; v=$(vmkb "$1" VmHWM); echo "${v:-0}"; }
rss()   { local v; v=$(vmkb "$1" VmRSS); echo "${v:-0}"; }
pss()   { awk '$1=="Pss:"{s+=$2}END{print s+0}' "/proc/$1/smaps_rollup" 2>/dev/null || echo 0; }
# CPU seconds used so far by a process and its reaped children (far less noisy than wall time on a shared machine)
CLK=$(getconf CLK_TCK)
cpus()  { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | awk -v c=$CLK '{printf "%.2f", ($12+$13+$14+$15)/c}'; }
kids()  { cat /proc/"$1"/task/*/children 2>/dev/null; }
# "PSS anon-PSS" in kB summed over a process and its direct children (multi-process servers); one awk, as it runs under load
treepss() { cat $(for p in "$1" $(kids "$1"); do echo "/proc/$p/smaps_rollup"; done) 2>/dev/null | awk '$1=="Pss:"{s+=$2} $1=="Pss_Anon:"{a+=$2} END{print s+0, a+0}'; }
# lib really mapped in PID?  (the sanity check of every preload measurement)
chkmap() { [ -z "$LIB" ] && return 0; grep -q -- "$LIBBASE" "/proc/$1/maps" 2>/dev/null && return 0
  bad "$LIBBASE not mapped in pid $1"; return 1; }
# the usual traces of memory corruption or of a loader failure in a log
chklog() { local f; for f in "$@"; do [ -s "$f" ] || continue
  if grep -aEi 'cannot be preloaded|undefined symbol|symbol lookup error|double free|corrupted|invalid (pointer|size|next)|malloc\(\)|free\(\):|munmap_chunk|segmentation fault|SIGSEGV|SIGABRT|signal (11|6)\b|stack smashing|AddressSanitizer|fatal error has been detected' "$f" | grep -vE "${LOGIGNORE:-^$}" | head -5 | grep -a . ; then bad "log $(basename "$f") shows trouble"; fi; done; }

# run a batch program under test: meas NAME [-t] -- cmd…   (stdout/stderr as redirected by the caller)
# sets M_wall M_user M_sys M_maxrss_kb M_last_kb M_tree_kb M_exit M_signal M_timeout M_loaded
meas() { local a=(); while [ "$1" != -- ]; do a+=("$1"); shift; done; shift
  local e=() x; for x in ${PENV[@]+"${PENV[@]}"}; do e+=(-e "$x"); done
  "$RMEAS" -o "$W/.m" -T "${TMO:-300}" ${LIB:+-l "$LIB"} ${a[@]+"${a[@]}"} ${e[@]+"${e[@]}"} -- "$@"; local rc=$?
  local kv; M_wall=0 M_user=0 M_sys=0 M_maxrss_kb=0 M_hwm_kb=0 M_last_kb=0 M_tree_kb=0 M_exit=-1 M_signal=0 M_timeout=0 M_loaded=-1 M_minflt=0
  for kv in $(cat "$W/.m" 2>/dev/null); do printf -v "M_${kv%%=*}" %s "${kv#*=}"; done
  [ "$M_signal" != 0 ] && bad "$1 killed by signal $M_signal"
  [ "$M_timeout" = 1 ] && bad "$1 timed out"
  [ -n "$LIB" ] && [ "$M_loaded" = 0 ] && bad "$LIBBASE not mapped in $1"
  return $rc; }
# add one batch run to the totals
acc() { CPU=$(calc "$CPU+$M_user+$M_sys"); TOTAL=$(calc "${TOTAL:-0}+$M_wall"); [ "$M_maxrss_kb" -gt "$RSS" ] && RSS=$M_maxrss_kb; RSSEND=$M_last_kb; METRIC=$TOTAL; return 0; }

finish() { trap - EXIT
  local p; for p in ${PIDS[@]+"${PIDS[@]}"}; do kill -TERM "$p" 2>/dev/null; done
  for p in ${PIDS[@]+"${PIDS[@]}"}; do local i; for ((i=0;i<100;i++)); do alive "$p" || break; sleep 0.05; done; alive "$p" && kill -KILL "$p" 2>/dev/null; wait "$p" 2>/dev/null; done
  if [ "$OK" = 0 ] && [ -z "${QUIETFAIL:-}" ]; then mkdir -p "$BASE/fail"; rm -rf "$BASE/fail/$WL.$$"; mkdir -p "$BASE/fail/$WL.$$"; find "$W" -maxdepth 1 -type f -size -2M -exec cp {} "$BASE/fail/$WL.$$/" \; 2>/dev/null; echo "# logs kept in $BASE/fail/$WL.$$"; fi
  [ "${KEEP:-0}" = 1 ] || rm -rf "$W"
  echo "RESULT workload=$WL ok=$OK metric=$METRIC unit=$UNIT higher_is_better=$HIB rss_kb=$RSS rss_end_kb=$RSSEND cpu_cost=$CPU${WHY:+ why=$WHY}"
  [ "$OK" = 1 ] && exit 0; exit 1; }
trap 'bad "script left early"; finish' EXIT
trap 'exit 130' INT TERM
# free loopback port
freeport() { python3 -c 'import socket; s=socket.socket(); s.bind(("127.0.0.1",0)); print(s.getsockname()[1])'; }

# refcheck NAME FILE: the output must be the same as without preload (reference made on demand)
refdir=$DATA/ref; mkdir -p "$refdir"; REFKEY=$(cat "$0" "$RA"/*.py "$RA"/*.js "$RA"/*.java "$RA"/*.pl "$RA"/*.rb "$RA"/*.lua 2>/dev/null | cksum | cut -d" " -f1)
needref() { # run ourselves without preload once, so that the references exist
  [ -n "$LIB" ] || [ ${#XENV[@]} -gt 0 ] || return 0
  [ -e "$refdir/$WL.$REFKEY.$SCALE.done" ] && return 0
  say "making the reference without preload"; DURATION=${DURATION:-} "$0" "" >"$W/refrun" 2>&1 || { bad "reference run failed"; cat "$W/refrun"; finish; }; }
refcheck() { local h; h=$(sha256sum <"$2" | cut -c1-64)
  if [ -z "$LIB" ] && [ ${#XENV[@]} = 0 ]; then
    if [ -e "$refdir/$WL.$REFKEY.$SCALE.$1" ]; then [ "$h" = "$(cat "$refdir/$WL.$REFKEY.$SCALE.$1")" ] || bad "$1 not reproducible"; else echo "$h" >"$refdir/$WL.$REFKEY.$SCALE.$1"; fi
  else [ -e "$refdir/$WL.$REFKEY.$SCALE.$1" ] || { bad "no reference for $1"; return 1; }
    [ "$h" = "$(cat "$refdir/$WL.$REFKEY.$SCALE.$1")" ] || { bad "$1 differs from the run without preload"; cp "$2" "$W/differs.$1"; }
  fi; }
refdone() { [ -z "$LIB" ] && [ ${#XENV[@]} = 0 ] && [ $OK = 1 ] && touch "$refdir/$WL.$REFKEY.$SCALE.done"; return 0; }
# scaled integer
sc() { awk "BEGIN{v=int($1*$SCALE); print v<1?1:v}"; }
