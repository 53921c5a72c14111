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
