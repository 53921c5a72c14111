#ifndef PIPPIN_LIBMICROHTTPD_SHIM
#define PIPPIN_LIBMICROHTTPD_SHIM

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

// Swift cannot call functions with a variable number of arguments.

// Leaves paths and queries encoded: once they are decoded, a slash within a name is no longer told from one between names.
static inline size_t loopback_server_leave(void *context, struct MHD_Connection *connection, char *text) {
    (void)context;
    (void)connection;
    return strlen(text);
}

// Starts a server on the loopback interface, with a thread for each connection; port 0 for any free one. Connections
// that send no admitted request end soon, since other users of the machine could take all of them.
static inline struct MHD_Daemon *loopback_server_start(
    uint16_t port, unsigned int connections, MHD_AccessHandlerCallback handler,
    MHD_RequestCompletedCallback completed, void *context) {
    struct sockaddr_in address;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL, port, NULL, NULL, handler,
        context, MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address, MHD_OPTION_NOTIFY_COMPLETED, completed, context,
        MHD_OPTION_CONNECTION_TIMEOUT, 10u, MHD_OPTION_CONNECTION_LIMIT, connections, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)65536, MHD_OPTION_UNESCAPE_CALLBACK, loopback_server_leave, NULL, MHD_OPTION_END);
}

// Starts a server with one thread for all connections, whose requests may wait for their answers; port 0 for any free one.
static inline struct MHD_Daemon *http_listener_start(
    uint32_t host, uint16_t port, unsigned int connections, MHD_AccessHandlerCallback handler,
    MHD_RequestCompletedCallback completed, void *context) {
    struct sockaddr_in address;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(host);
    return MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, port, NULL, NULL, handler, context,
        MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address, MHD_OPTION_NOTIFY_COMPLETED, completed, context,
        MHD_OPTION_CONNECTION_TIMEOUT, 90u, MHD_OPTION_CONNECTION_LIMIT, connections, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)16384, MHD_OPTION_LISTEN_BACKLOG_SIZE, 1024u, MHD_OPTION_UNESCAPE_CALLBACK, loopback_server_leave, NULL,
        MHD_OPTION_END);
}

// The port that a connection comes from; 0 if it is not known.
static inline uint16_t loopback_server_client(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    if (!info || info->client_addr->sa_family != AF_INET) return 0;
    return ntohs(((const struct sockaddr_in *)info->client_addr)->sin_port);
}

// Waits longer for the next bytes of a connection whose request is admitted.
static inline void loopback_server_keep(struct MHD_Connection *connection) {
    MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, 120u);
}

// The descriptor of a connection; -1 if it is not known.
static inline int loopback_server_descriptor(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

// Whether the other end of a connection has been closed: 1 or 0.
static inline int loopback_server_has_left(int descriptor) {
#ifdef POLLRDHUP
    short closed = POLLRDHUP;
#else
    short closed = 0x2000; // Linux has it, and shows it to programs in GNU's dialect only.
#endif
    struct pollfd poller = {descriptor, closed, 0};
    return poll(&poller, 1, 0) > 0 && (poller.revents & (closed | POLLHUP | POLLERR | POLLNVAL)) != 0;
}

// The port that the server listens on.
static inline uint16_t loopback_server_port(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    return info ? info->port : 0;
}

#endif
