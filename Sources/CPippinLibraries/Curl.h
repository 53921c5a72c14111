#ifndef PIPPIN_LIBCURL_SHIM
#define PIPPIN_LIBCURL_SHIM

// The checks of options need them as constants.
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <stddef.h>

// Swift cannot call functions with a variable number of arguments.

typedef size_t (*pippin_curl_writer)(char *bytes, size_t size, size_t count, void *context);

// Makes a handle for one POST: certificates are checked as the system has it, redirections are not followed, and
// compressed answers are given as they came. The body must outlive the handle.
static inline CURL *pippin_curl_post(
    const char *url, const void *body, size_t size, struct curl_slist *headers, long milliseconds,
    long connect_milliseconds, int is_fresh, pippin_curl_writer writer, void *context) {
    CURL *handle = curl_easy_init();
    if (!handle) return NULL;
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle, CURLOPT_URL, url);
#if LIBCURL_VERSION_NUM >= 0x075500
    curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
#else
    curl_easy_setopt(handle, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
    curl_easy_setopt(handle, CURLOPT_POST, 1L);
    curl_easy_setopt(handle, CURLOPT_POSTFIELDS, (const char *)body);
    curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
    curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, milliseconds);
    curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, connect_milliseconds);
    curl_easy_setopt(handle, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    // A second request goes over the connection that is there, where that can take several.
    curl_easy_setopt(handle, CURLOPT_PIPEWAIT, 1L);
    curl_easy_setopt(handle, CURLOPT_FRESH_CONNECT, is_fresh ? 1L : 0L);
    curl_easy_setopt(handle, CURLOPT_TCP_NODELAY, 1L);
    curl_easy_setopt(handle, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, writer);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, context);
    return handle;
}

static inline long pippin_curl_status(CURL *handle) {
    long status = 0;
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

// For how many seconds the server wants to be left alone; 0 if it does not say.
static inline long pippin_curl_retry_after(CURL *handle) {
    curl_off_t seconds = 0;
    curl_easy_getinfo(handle, CURLINFO_RETRY_AFTER, &seconds);
    return seconds > 86400 ? 86400 : (long)seconds;
}

// The answer's type; NULL if there is none. It lives as long as the handle.
static inline const char *pippin_curl_type(CURL *handle) {
    char *type = NULL;
    curl_easy_getinfo(handle, CURLINFO_CONTENT_TYPE, &type);
    return type;
}

// The next handle that is done, and how it ended; NULL if none is.
static inline CURL *pippin_curl_done(CURLM *multi, CURLcode *result) {
    int left = 0;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left))) {
        if (message->msg != CURLMSG_DONE) continue;
        *result = message->data.result;
        return message->easy_handle;
    }
    return NULL;
}

#endif
