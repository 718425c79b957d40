# SPDX-License-Identifier: MIT
#
# perlw.pl - hashes, lists, strings, a fork; prints a digest of its results
use strict; my $n=shift; my %h; my $s=0; srand(3);
for my $i (1..$n*400){ my $k="key".($i*7919%9973); push @{$h{$k}},{id=>$i,t=>"x"x($i%60),l=>[1..$i%7]}; if(@{$h{$k}}>5){ shift @{$h{$k}} } }
for my $k (sort keys %h){ $s+=length(join ",",map {$_->{t}.$_->{id}} @{$h{$k}}) }
my $t=join " ",map {"w$_=".($_*3)} 1..$n*50; my $c=0; while($t=~/(\w+)=(\d+)/g){$c+=$2} (my $u=$t)=~s/(\d)/<$1>/g;
my @a=sort {$a cmp $b} map { reverse($_).rand() } split / /,$t; my $p=fork(); if(!$p){ my @x=map {[$_]} 1..10000; exit(7) } waitpid($p,0); print "$s $c ",length($u)," ",scalar(@a)," ",$?>>8,"\n";
