# SPDX-License-Identifier: MIT
#
# generates template/STL heavy C++ translation units
import sys, random
d, n = sys.argv[1], int(sys.argv[2])
for u in range(n):
    r = random.Random(u); o = ["#include <map>\n#include <string>\n#include <vector>\n#include <unordered_map>\n#include <set>\n#include <functional>\n#include <memory>\n#include <algorithm>\n#include <sstream>\n#include <variant>\n#include <tuple>\n#include <regex>\n"]
    o.append("template<int N,class T> struct L{ typename L<N-1,T>::type v; using type=std::pair<T,int>; static int f(int x){return L<N-1,T>::f(x)+N;} };\ntemplate<class T> struct L<0,T>{ using type=T; static int f(int x){return x;} };\n")
    for k in range(4):
        a = r.choice(["int","long","double","std::string","unsigned char","short"])
        o.append(f"struct S{u}_{k}{{ std::map<std::string,std::vector<{a}>> m; std::unordered_map<int,std::set<{a}>> u; std::variant<int,{a} *,std::string> v; std::tuple<{a},int,std::string,std::array<{a},{k+1}>> t;\n"
                 f" template<class F> auto ap(F f){{ std::vector<decltype(f(0))> r; for(int i=0;i<{k+3};i++) r.push_back(f(i)); std::sort(r.begin(),r.end()); return r; }}\n"
                 f" int go(int x){{ auto q=ap([x](int i){{return i*x+{k};}}); auto w=ap([x](int i){{return std::to_string(i*x);}}); std::function<int(int)> g=[&](int z){{return z<1?{k}:g(z-1)+z;}}; m[w[0]].emplace_back(); u[q[0]]; std::ostringstream s; s<<q.size()<<w[0]; return (int)s.str().size()+g(3)+L<{40+k*7},S{u}_{k}*>::f(x)+std::visit([](auto&&y){{return (int)sizeof(y);}},v);}} }};\n")
    o.append(f"int unit{u}(int x){{ int s=0; " + " ".join(f"{{S{u}_{k} a; s+=a.go(x+{k});}}" for k in range(4)) + " std::regex re(\"a+b(c|d)*\"); return s+std::regex_match(std::to_string(s),re); }\n")
    open(f"{d}/u{u}.cc", "w").write("".join(o))
