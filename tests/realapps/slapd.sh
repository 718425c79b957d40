#!/bin/bash
# SPDX-License-Identifier: MIT
#
# slapd.sh - OpenLDAP slapd (mdb), full-database scan on an unindexed attribute:
#            8 single searches, then 8 rounds of four concurrent ones; process size and time after each
# packages: slapd ldap-utils
# env: ENTRIES (default 100000), SINGLES (8), ROUNDS (8)
# metric: seconds for all searches.  POINT lines hold the size/time table
# (rss includes the mapped database file; anon = RssAnon is the allocator's part).
. "$(dirname "$0")/common.sh"
ENTRIES=${ENTRIES:-100000}; SINGLES=${SINGLES:-8}; ROUNDS=${ROUNDS:-8}
UNIT=s; HIB=0; SRC=$DATA/slapd.$ENTRIES
conf() { cat <<E
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
moduleload sssvlv
pidfile $1/slapd.pid
argsfile $1/slapd.args
sizelimit unlimited
threads 16
loglevel none
database mdb
suffix "dc=example,dc=com"
rootdn "cn=admin,dc=example,dc=com"
rootpw secret
directory $1/db
maxsize 2147483648
index objectClass eq
overlay sssvlv
sssvlv-max 16
sssvlv-maxperconn 4
access to * by * read
E
}
if [ ! -e "$SRC/ok" ]; then
  ( flock 9; [ -e "$SRC/ok" ] && exit 0
  say "preparing $SRC"; rm -rf "$SRC"; mkdir -p "$SRC/db"; conf "$SRC" >"$SRC/slapd.conf"
  python3 - "$ENTRIES" >"$SRC/all.ldif" <<'P'
import random, sys
r = random.Random(7); n = int(sys.argv[1])
print("dn: dc=example,dc=com\nobjectClass: dcObject\nobjectClass: organization\no: Example\ndc: example\n")
for o in range(20): print(f"dn: ou=ou{o},dc=example,dc=com\nobjectClass: organizationalUnit\nou: ou{o}\n")
S="abcdefghijklmnopqrstuvwxyz"
def w(a,b): return "".join(r.choice(S) for _ in range(r.randint(a,b)))
for i in range(n):
    sn=w(4,12); gn=w(3,9)
    print(f"dn: uid=u{i},ou=ou{i%20},dc=example,dc=com\nobjectClass: inetOrgPerson\nuid: u{i}\ncn: {gn} {sn}\nsn: {sn}\ngivenName: {gn}\nmail: {gn}.{sn}.{i}@example.com\nemployeeNumber: {i}\nemployeeType: type{i%500}\nroomNumber: {i%977}\ntelephoneNumber: +1 555 {i:07d}\ntitle: {w(5,20)}\ndescription: {w(20,180)}")
    for k in range(r.randint(0,3)): print(f"l: {w(4,14)}{k}")
    print()
P
  slapadd -q -f "$SRC/slapd.conf" -l "$SRC/all.ldif" >"$SRC/add.log" 2>&1 || exit 1
  rm -f "$SRC/all.ldif"; touch "$SRC/ok" ) 9>"$DATA/.slapd.lock" || { bad "prepare failed"; finish; }
fi
mkdir "$W/db"; cp --sparse=always "$SRC/db/data.mdb" "$W/db/"; conf "$W" >"$W/slapd.conf"
S="ldapi://$(echo -n "$W/s" | sed 's,/,%2F,g')"
pstart P "$LOG" slapd -d 0 -f "$W/slapd.conf" -h "$S"
waitfor 30 ldapsearch -x -H "$S" -b '' -s base -LLL || { bad "slapd did not start"; tail -3 "$LOG"; finish; }
chkmap "$P"
exp=$((ENTRIES/500))
one() { # type number -> checks the count and a checksum of the uids
  ldapsearch -x -H "$S" -LLL -o ldif-wrap=no -b 'dc=example,dc=com' "(employeeType=type$1)" uid employeeNumber mail 2>>"$LOG" >"$W/o.$2"; local rc=$?
  [ $rc = 0 ] && [ "$(grep -c '^uid: ' "$W/o.$2")" = $exp ] && awk -v t="$1" '/^employeeNumber: /{if($2%500!=t)exit 1}' "$W/o.$2" || { echo "search type$1 rc=$rc n=$(grep -c '^uid: ' "$W/o.$2")" >>"$W/bad"; }; }
T0=$(now); m=0
pt() { echo "POINT workload=$WL series=$1 x=$2 value=$(calc "$3") unit=s rss_kb=$(rss "$P") anon_kb=$(vmkb "$P" RssAnon) vsz_kb=$(vmkb "$P" VmSize)"; }
echo "POINT workload=$WL series=start x=0 value=0 unit=s rss_kb=$(rss "$P") anon_kb=$(vmkb "$P" RssAnon) vsz_kb=$(vmkb "$P" VmSize)"
for ((k=1;k<=SINGLES;k++)); do a=$(now); one $k s; b=$(now); alive "$P" || { bad "slapd died"; finish; }; pt single $k "$b-$a"; m=$(calc "$m+$b-$a"); done
for ((k=1;k<=ROUNDS;k++)); do a=$(now); q=(); for j in 1 2 3 4; do one $((k*7+j)) c$j & q+=($!); done; wait "${q[@]}"; b=$(now); alive "$P" || { bad "slapd died"; finish; }; pt four $k "$b-$a"; m=$(calc "$m+$b-$a"); done
# server-side sort: this one holds every hit in malloc memory until the answer is sent (back-mdb has no entry cache)
SN=$(awk "BEGIN{n=0; for(i=0;i<500;i++) if ((\"type\" i) ~ /^type1/) n++; print n*$exp}")
srt() { ldapsearch -x -H "$S" -LLL -o ldif-wrap=no -E sss=sn:2.5.13.3 -b 'dc=example,dc=com' "(employeeType=type1*)" sn uid 2>>"$LOG" >"$W/o.$1"; local rc=$?
  [ $rc = 0 ] && [ "$(grep -c '^uid: ' "$W/o.$1")" = "$SN" ] && grep '^sn: ' "$W/o.$1" | sort -c 2>/dev/null || echo "sorted rc=$rc n=$(grep -c '^uid: ' "$W/o.$1")" >>"$W/bad"; }
for ((k=1;k<=${SORTS:-2};k++)); do a=$(now); q=(); for j in 1 2 3 4; do srt c$j & q+=($!); done; wait "${q[@]}"; b=$(now); alive "$P" || { bad "slapd died"; finish; }; pt sorted4 $k "$b-$a"; m=$(calc "$m+$b-$a"); done
CPU=$(cpus "$P")
[ -e "$W/bad" ] && bad "$(wc -l <"$W/bad") wrong searches: $(head -1 "$W/bad")"
METRIC=$m; RSS=$(hwm "$P"); RSSEND=$(rss "$P")
# a few writes and a delete, to have seen the modify path as well
printf 'dn: uid=new1,ou=ou1,dc=example,dc=com\nchangetype: add\nobjectClass: inetOrgPerson\nuid: new1\ncn: a b\nsn: b\n\ndn: uid=new1,ou=ou1,dc=example,dc=com\nchangetype: modify\nadd: description\ndescription: x\n\ndn: uid=new1,ou=ou1,dc=example,dc=com\nchangetype: delete\n' | ldapmodify -x -H "$S" -D cn=admin,dc=example,dc=com -w secret >>"$W/mod.log" 2>&1 || bad "ldapmodify"
pstop "$P" INT 20; [ "$STOPRC" = 0 ] || bad "slapd exit $STOPRC"
chklog "$LOG"
finish
