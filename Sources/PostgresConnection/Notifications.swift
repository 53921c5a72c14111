import CLibPQ
import Foundation

/// A notification to the listeners of a channel.
package struct PostgresNotification: Sendable, Equatable {
    package let channel: String
    package let payload: String
    /// The number of the sender's process on the server.
    package let processID: Int32

    package init(channel: String, payload: String, processID: Int32) {
        (self.channel, self.payload, self.processID) = (channel, payload, processID)
    }
}

extension PostgresConnection {
    /// The notifications that have arrived on the channels that the connection listens to.
    package func notifications() throws -> [PostgresNotification] {
        guard PQconsumeInput(handle) == 1 else { throw PostgresError(nil, statement: nil, connection: handle) }
        var found: [PostgresNotification] = []
        while let pointer = PQnotifies(handle) {
            found.append(
                PostgresNotification(
                    channel: String(cString: pointer.pointee.relname), payload: String(cString: pointer.pointee.extra),
                    processID: pointer.pointee.be_pid))
            PQfreemem(pointer)
        }
        return found
    }

    /// The socket, for callers that wait for several things.
    package var socket: Int32 { PQsocket(handle) }

    /// Whether something has arrived that was not read yet, such as the end of the connection.
    package var hasInput: Bool {
        var poll = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
        return Foundation.poll(&poll, 1, 0) > 0
    }

    /// Notices, without asking the server, that it has ended the connection.
    package func noticeEnd() {
        guard ahead == nil, hasInput else { return }
        // The next statement reports an error of this call.
        _ = PQconsumeInput(handle)
    }
}
