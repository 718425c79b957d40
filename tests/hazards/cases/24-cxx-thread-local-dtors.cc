// SPDX-License-Identifier: MIT
// C++ thread_local destructors and pthread keys run in an order the allocator
// does not control; they allocate and free after the allocator's own per-thread
// state may be gone. 1500 x 2 threads: no crash, no unbounded growth. class: P
#include "hz.h"
#include <string>
#include <vector>
struct T {
	std::vector<std::string> v;
	~T()
	{
		std::vector<std::string> w(v);
		w.push_back(std::string(5000, 'z'));
		char *p = (char *)malloc(300);
		p[0] = 1;
		delete new std::string(w.back());
		v.clear();
		free(p);
	}
};
static thread_local T a;
static thread_local T b;
static pthread_key_t k1, k2;
static void d1(void *p)
{
	free(p);
	static __thread int rounds;
	if (++rounds < 3) {
		pthread_setspecific(k1, malloc(700));
	}
}
static void d2(void *p)
{
	free(p);
	void *q[20];
	for (int i = 0; i < 20; i++) {
		q[i] = malloc(50 * i + 1);
	}
	for (int i = 0; i < 20; i++) {
		free(q[i]);
	}
}
static void *run(void *)
{
	a.v.assign(10, std::string(100, 'a'));
	b.v.assign(10, std::string(1000, 'b'));
	pthread_setspecific(k1, malloc(100));
	pthread_setspecific(k2, malloc(40000));
	return nullptr;
}
int main()
{
	hz_limit(50);
	pthread_key_create(&k1, d1);
	pthread_key_create(&k2, d2);
	long base = 0;
	for (int i = 0; i < 1500; i++) {
		pthread_t t[2];
		for (auto &x : t) {
			CHECK(!pthread_create(&x, nullptr, run, nullptr));
		}
		for (auto &x : t) {
			pthread_join(x, nullptr);
		}
		if (i == 300) {
			base = hz_rss_kb();
		}
	}
	CHECK(hz_rss_kb() - base < 48 * 1024);
	return 0;
}
