#!/bin/bash
# SPDX-License-Identifier: MIT
# OpenLDAP's slapd: time and process size after searches through all entries
# on an attribute without an index, eight rounds of one client and of four at
# once. `anon` is the memory that malloc can answer for: RSS also holds what is
# mapped of the database file.
. "$(dirname "$0")/common.sh"
PATH=$PATH:/usr/sbin
need slapd slapd
need ldapsearch ldap-utils
entries=${ENTRIES:-50000}
slapd_data=$data/slapd-$entries
port=${SLAPD_PORT:-38961}
url=ldap://127.0.0.1:$port

slapd_make() {
	rm -rf "$slapd_data"
	mkdir -p "$slapd_data/db"
	cat >"$slapd_data/slapd.conf" <<-E
	include /etc/ldap/schema/core.schema
	include /etc/ldap/schema/cosine.schema
	include /etc/ldap/schema/inetorgperson.schema
	modulepath /usr/lib/ldap
	moduleload back_mdb
	pidfile $slapd_data/pid
	sizelimit unlimited
	loglevel none
	database mdb
	suffix "dc=example,dc=com"
	directory $slapd_data/db
	maxsize 1073741824
	index objectClass eq
	access to * by * read
	E
	awk -v n="$entries" 'BEGIN {
		srand(7)
		print "dn: dc=example,dc=com\nobjectClass: dcObject"
		print "objectClass: organization\no: Example\ndc: example\n"
		for (i = 0; i < n; i++) {
			text = ""
			for (k = 20 + int(160 * rand()); k > 0; k--) {
				text = text sprintf("%c", 97 + int(26 * rand()))
			}
			printf "dn: uid=u%d,dc=example,dc=com\n", i
			print "objectClass: inetOrgPerson"
			printf "uid: u%d\ncn: name %d\nsn: name\n", i, i
			printf "employeeType: type%d\n", i % 500
			printf "mail: u%d@example.com\n", i
			printf "description: %s\n\n", text
		}
	}' >"$slapd_data/all.ldif"
	slapadd -q -f "$slapd_data/slapd.conf" -l "$slapd_data/all.ldif" \
		>"$data/slapd.log" 2>&1
	rm "$slapd_data/all.ldif"
	touch "$slapd_data/made"
}
[ -e "$slapd_data/made" ] || slapd_make

# Every search must find its share, or the run has failed.
cat >"$data/searches.sh" <<E
search() {
	found=\$(ldapsearch -x -H $url -LLL -o ldif-wrap=no \
		-b dc=example,dc=com "(employeeType=type\$1)" uid description |
		grep -c ^uid:)
	[ "\$found" = $((entries / 500)) ]
}
for round in 1 2 3 4 5 6 7 8; do
	pids=
	for client in \$(seq "\$1"); do
		search \$((round * 10 + client)) &
		pids="\$pids \$!"
	done
	for pid in \$pids; do wait \$pid || exit 1; done
done
awk '\$1 == "RssAnon:" {print "anon KiB: " \$2}' "/proc/\$2/status"
E
compare --sweep clients=1,4 \
	--server "exec slapd -d 0 -f $slapd_data/slapd.conf -h $url" \
	--ready "command=ldapsearch -x -H $url -b '' -s base" \
	--load "sh $data/searches.sh {clients} {pid}" \
	--metric 'anon_kib:min=anon KiB: ([0-9]+)' \
	--show wall,user,anon_kib,peak_rss,end_rss "$@"
