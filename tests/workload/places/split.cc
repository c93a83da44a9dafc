// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// A request in two writes, by a stream buffer of C++'s library; with `late` in one, and the server takes its time; with `lock` it waits
// for a lock that another thread keeps; with `burn` it computes. The lines that matter are marked.
#include <arpa/inet.h>
#include <atomic>
#include <chrono>
#include <ext/stdio_filebuf.h>
#include <iostream>
#include <mutex>
#include <netinet/in.h>
#include <ostream>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace rpc
{
class client
{
	__gnu_cxx::stdio_filebuf<char> buffer;
	std::ostream out;
	int fd;

	template <int bytes> void put(char what)
	{
		out << std::string(bytes, what);
		out.flush();
	}

public:
	explicit client(int fd) : buffer(fd, std::ios::out), out(&buffer), fd(fd)
	{
	}
	void request()
	{
		char done[4];

		put<40>('h');  // first
		put<136>('b'); // second
		if (read(fd, done, sizeof(done)) <= 0)
			_exit(1);
	}
	[[gnu::noinline]] void ask_late()
	{
		char done[4];

		put<176>('r');
		if (read(fd, done, sizeof(done)) <= 0) // late read
			_exit(1);
	}
};
}

using namespace std::chrono_literals;

namespace slow
{
static std::mutex mutex;
static std::atomic<bool> is_kept;

[[gnu::noinline]] static void late(int fd)
{
	std::this_thread::sleep_for(30ms); // late wait
	if (write(fd, "done", 4) != 4)	   // late answer
		_exit(1);
}

[[gnu::noinline]] static void keep_lock()
{
	mutex.lock();
	is_kept = true;
	std::this_thread::sleep_for(30ms); // lock sleep
	is_kept = false;
	mutex.unlock(); // lock release
	asm volatile("");
}

[[gnu::noinline]] static void take_lock()
{
	while (!is_kept)
		std::this_thread::sleep_for(1ms);
	mutex.lock(); // lock wait
	mutex.unlock();
	asm volatile("");
}

[[gnu::noinline]] static long compute(std::chrono::steady_clock::time_point until)
{
	long count = 0;

	while (std::chrono::steady_clock::now() < until)
		count++;
	return count;
}

static void keep_locks()
{
	for (;;) {
		keep_lock();
		std::this_thread::sleep_for(10ms);
	}
}

static void serve(int listener, std::string mode)
{
	int fd = accept(listener, nullptr, nullptr);
	char request[176];

	if (mode == "lock")
		std::thread(keep_locks).detach();
	while (recv(fd, request, sizeof(request), MSG_WAITALL) > 0) {
		if (mode == "late") {
			late(fd);
			continue;
		}
		if (mode == "lock")
			take_lock();
		else if (!compute(std::chrono::steady_clock::now() + 30ms))
			return;
		if (write(fd, "done", 4) != 4)
			return;
	}
}
}

static void serve(int listener)
{
	int fd = accept(listener, nullptr, nullptr);
	char request[4096];
	ssize_t had = 0, got;

	while ((got = read(fd, request, sizeof(request))) > 0)
		for (had += got; had >= 176; had -= 176)
			if (write(fd, "done", 4) != 4)
				return;
}

int main(int argc, char **argv)
{
	sockaddr_in at = {};
	socklen_t size = sizeof(at);
	int listener = socket(AF_INET, SOCK_STREAM, 0), fd = socket(AF_INET, SOCK_STREAM, 0);
	std::string line;

	at.sin_family = AF_INET;
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(listener, (sockaddr *)&at, size) || listen(listener, 1) ||
	    getsockname(listener, (sockaddr *)&at, &size) || connect(fd, (sockaddr *)&at, size))
		return 1;
	if (argc > 1)
		std::thread(slow::serve, listener, std::string(argv[1])).detach();
	else
		std::thread([=] { serve(listener); }).detach();
	rpc::client client(fd);
	std::cout << "ready " << getpid() << std::endl;
	std::getline(std::cin, line);
	for (int i = 0; i < 30; i++)
		argc > 1 ? client.ask_late() : client.request();
	_exit(0);
}
