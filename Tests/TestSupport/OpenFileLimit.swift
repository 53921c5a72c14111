import Foundation

/// Lets the process open as many files as it may. Many tests run at once, each with stores of its own; the usual limit
/// of 1,024 files is soon reached then, and Foundation and Dispatch stop a program that has none left.
package enum OpenFileLimit {
    package static let isRaised: Bool = {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return false }
        limit.rlim_cur = limit.rlim_max
        return setrlimit(resource, &limit) == 0
    }()

    #if canImport(Glibc)
        private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        private static let resource = RLIMIT_NOFILE
    #endif
}
