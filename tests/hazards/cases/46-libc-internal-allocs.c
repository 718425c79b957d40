/* SPDX-License-Identifier: MIT */
/* Everything libc allocates on behalf of the caller and the caller frees (or
 * hands back): strdup, asprintf, getline, open_memstream, getcwd, realpath,
 * scandir, glob, regcomp, getaddrinfo, %ms, newlocale, iconv, tsearch, argz,
 * getifaddrs, backtrace_symbols ... class: P */
#include "hz.h"
#include <argz.h>
#include <dirent.h>
#include <execinfo.h>
#include <glob.h>
#include <iconv.h>
#include <ifaddrs.h>
#include <locale.h>
#include <net/if.h>
#include <netdb.h>
#include <pwd.h>
#include <regex.h>
#include <search.h>
#include <wchar.h>
#include <wordexp.h>
static int cmp(const void *a, const void *b)
{
	return strcmp(a, b);
}
static int filt(const struct dirent *d)
{
	(void)d;
	return 1;
}
int main(void)
{
	hz_limit(20);
	for (int r = 0; r < 30; r++) {
		char *s = strdup("abc");
		free(s);
		s = strndup("abcdef", 3);
		s = realloc(s, 5000);
		CHECK(!strcmp(s, "abc"));
		free(s);
		wchar_t *w = wcsdup(L"hello");
		free(w);
		CHECK(asprintf(&s, "%0*d", 9000, 7) == 9000);
		CHECK(malloc_usable_size(s) >= 9001);
		s = realloc(s, 10);
		free(s);
		FILE *f = tmpfile();
		CHECK(f);
		for (int i = 0; i < 50; i++) {
			fprintf(f, "%0*d\n", i * 37 + 1, i);
		}
		rewind(f);
		char *ln = malloc(4);
		size_t cap = 4;
		int n = 0;
		while (getline(&ln, &cap, f) > 0) {
			n++;
		}
		CHECK(n == 50);
		free(ln);
		rewind(f);
		ln = NULL;
		cap = 0;
		CHECK(getdelim(&ln, &cap, '\0', f) > 1000);
		free(ln);
		fclose(f);
		char *mb = NULL;
		size_t mn = 0;
		f = open_memstream(&mb, &mn);
		for (int i = 0; i < 4000; i++) {
			fprintf(f, "%d,", i);
		}
		fclose(f);
		CHECK(mn > 10000 && malloc_usable_size(mb) > mn);
		free(mb);
		wchar_t *wb = NULL;
		f = open_wmemstream(&wb, &mn);
		fwprintf(f, L"wide %d", 3);
		fclose(f);
		free(wb);
		f = fmemopen(NULL, 100, "w+");
		fputs("x", f);
		fclose(f);
		s = getcwd(NULL, 0);
		CHECK(s);
		free(s);
		s = getcwd(NULL, 9000);
		CHECK(s);
		free(s);
		s = get_current_dir_name();
		free(s);
		s = realpath("/proc/self/../self/exe", NULL);
		CHECK(s);
		free(s);
		s = canonicalize_file_name("/tmp");
		CHECK(s);
		free(s);
		s = tempnam(NULL, "hz");
		free(s);
		struct dirent **nl;
		n = scandir("/proc/self", &nl, filt, alphasort);
		CHECK(n > 5);
		while (n--) {
			free(nl[n]);
		}
		free(nl);
		DIR *d = opendir("/");
		CHECK(d);
		while (readdir(d)) {
			;
		}
		closedir(d);
		glob_t g;
		CHECK(!glob("/etc/*", 0, NULL, &g));
		globfree(&g);
		regex_t re;
		CHECK(!regcomp(&re, "^(a|b)*c{2,5}[x-z]+$", REG_EXTENDED));
		CHECK(!regexec(&re, "ababccxyz", 0, NULL, 0));
		regfree(&re);
		wordexp_t we;
		if (!wordexp("a b $HOME", &we, WRDE_NOCMD)) {
			wordfree(&we);
		}
		struct addrinfo *ai = NULL, h = {.ai_flags = AI_NUMERICHOST};
		if (!getaddrinfo("127.0.0.1", "80", &h, &ai)) {
			freeaddrinfo(ai);
		}
		struct ifaddrs *ia;
		if (!getifaddrs(&ia)) {
			freeifaddrs(ia);
		}
		struct if_nameindex *ni = if_nameindex();
		if (ni) {
			if_freenameindex(ni);
		}
		(void)getpwnam("root");
		(void)getservbyname("http", "tcp");
		char *m1 = NULL, *m2 = NULL;
		CHECK(sscanf("hello world", "%ms %m[a-z]", &m1, &m2) == 2);
		free(m1);
		free(m2);
		locale_t l = newlocale(LC_ALL_MASK, "C.UTF-8", NULL);
		if (l) {
			locale_t l2 = duplocale(l);
			freelocale(l2);
			freelocale(l);
		}
		setlocale(LC_ALL, r & 1 ? "C" : "C.UTF-8");
		iconv_t ic = iconv_open("UTF-16", "UTF-8");
		if (ic != (iconv_t)-1) {
			iconv_close(ic);
		}
		void *root = NULL;
		for (int i = 0; i < 30; i++) {
			char b[8];
			sprintf(b, "%d", i);
			tsearch(strdup(b), &root, cmp);
		}
		tdestroy(root, free);
		CHECK(hcreate(30));
		ENTRY e = {"k", "v"};
		hsearch(e, ENTER);
		hdestroy();
		char *az = NULL;
		size_t al = 0;
		argz_create_sep("a:b:c:d", ':', &az, &al);
		argz_add(&az, &al, "eeee");
		argz_delete(&az, &al, az);
		free(az);
		void *bt[8];
		n = backtrace(bt, 8);
		char **bs = backtrace_symbols(bt, n);
		free(bs);
		char *big = malloc(300000);
		for (int i = 0; i < 300000; i++) {
			big[i] = i * 7;
		}
		qsort(big, 75000, 4, (int (*)(const void *, const void *))cmp);
		free(big);
		putenv("HZ_X=1");
		setenv("HZ_Y", "22", 1);
		unsetenv("HZ_Y");
		f = fopen("/proc/self/maps", "r");
		char vb[64];
		setvbuf(f, NULL, _IOFBF, 1 << 16);
		fread(vb, 1, 64, f);
		fclose(f);
	}
	return 0;
}
