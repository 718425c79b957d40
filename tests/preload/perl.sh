#!/bin/bash
# SPDX-License-Identifier: MIT
#
# perl.sh - perl prints the same under every backend: hashes, strings, a fork.
. "$(dirname "$0")/common.sh"
need perl
cat >program.pl <<'END'
use strict;
my %lists;
push @{$lists{$_ * 7919 % 997}}, "x" x ($_ % 300) . $_ for 1 .. 60000;
my $text = join ",", map { scalar @{$lists{$_}} } sort keys %lists;
(my $marked = $text) =~ s/(\d)/<$1>/g;
my $child = fork();
if (!$child) { my @list = map { [$_] } 1 .. 5000; exit(@list % 256) }
waitpid($child, 0);
print length($marked), " ", length(join "", map { @$_ } values %lists),
    " ", $? >> 8, "\n";
END
perl program.pl >expected || fail "without the shim"
for backend in "${backends[@]}"; do
	proves "$backend" '(perl|libperl\.so[.0-9]*)' perl -e 1
	under "$backend" perl program.pl >actual || fail "$backend: status $?"
	same "$backend" expected actual
done
