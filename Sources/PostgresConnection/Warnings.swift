import CPippinPQ

/// Counts the warnings that a server sends along with its answers.
final class Warnings {
    fileprivate(set) var count = 0

    /// Counts a connection's warnings here. Notices of other kinds are meant for people at a terminal.
    func listen(to handle: OpaquePointer) {
        PQsetNoticeReceiver(
            handle,
            { context, result in
                guard let context, let state = PQresultErrorField(result, Int32(UInt8(ascii: "C"))),
                    String(cString: state) == "01000",
                    let severity = PQresultErrorField(result, Int32(UInt8(ascii: "V"))),
                    String(cString: severity) == "WARNING"
                else { return }
                Unmanaged<Warnings>.fromOpaque(context).takeUnretainedValue().count += 1
            }, Unmanaged.passUnretained(self).toOpaque())
    }
}
