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

extension PostgresError {
    /// Something was to be written where transactions only read unless they say otherwise.
    ///
    /// The state is that of a missing right: unlike with a standby, no other server takes the write.
    static func readOnlyByDefault(_ statement: String?) -> PostgresError {
        var error = PostgresError(
            state: "42501",
            message: "transactions of this role, or of this database, only read (default_transaction_read_only)",
            statement: statement)
        error.hint =
            "Open the store for reading only, or set default_transaction_read_only off (ALTER ROLE, ALTER DATABASE)."
        return error
    }
}
