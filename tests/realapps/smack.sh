#!/bin/bash
# SPDX-License-Identifier: MIT
#
# smack.sh - super-smack style select-by-key test: MariaDB, N clients, a fixed number of prepared-free point selects each
# packages: mariadb-server mariadb-client sysbench
# (mariadb.sh with mariadb-slap as the client; env as there)
export TESTS=smack WLNAME=smack; exec "$(dirname "$0")/mariadb.sh" "$@"
