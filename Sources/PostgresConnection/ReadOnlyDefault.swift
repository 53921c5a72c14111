import CLibPQ

/// What is set for transactions that do not say whether they write.
enum ReadOnlyDefault {
    /// Whether they only read, by what is set for the role or the database. Not on a standby, where nothing can be set
    /// otherwise; servers before version 14 do not tell.
    static func isSet(_ handle: OpaquePointer) -> Bool {
        func isOn(_ name: String) -> Bool { PQparameterStatus(handle, name).map { String(cString: $0) } == "on" }
        return isOn("default_transaction_read_only") && !isOn("in_hot_standby")
    }
}
