/// The arguments of `pippin sql`.
package struct SQLOptions: Equatable {
    package var store: String
    package var statement: String
    package var format = RowFormat.table
    package var model: String?
    package var isInPlace = false
    package var isVerbatim = false

    package init(_ arguments: [String]) throws {
        let parsed = try ParsedArguments(arguments, command: "sql", named: ["a store", "a statement in quotes"])
        (store, statement) = (parsed.paths[0], parsed.paths[1])
        format = try parsed.format(among: RowFormat.allCases) ?? .table
        model = parsed.options["--model"]
        isInPlace = parsed.flags.contains("--in-place")
        isVerbatim = parsed.flags.contains("--verbatim")
    }
}

/// `pippin sql`: the rows of a `SELECT` over entities and properties.
package enum SQLCommand {
    /// - Parameters:
    ///   - options: the statement, and how to write its rows.
    ///   - store: the store that the options name, open.
    ///   - terminal: how the output may look.
    ///   - output: takes the text, piece by piece.
    /// - Throws: an error for a statement that is wrong, or does more than read; errors of the store.
    package static func run(
        _ options: SQLOptions, in store: DirectStore, _ terminal: Terminal, _ output: (String) throws -> Void
    ) throws {
        var rows = SQLRows(options.format, isVerbatim: options.isVerbatim)
        try StoreSQL(store).run(options.statement) { columns in
            try rows.begin(columns, output)
        } row: { values in
            try EndingSignals.check()
            try rows.write(values, output)
            return true
        }
        try rows.end(bold: terminal.bold, quiet: terminal.quiet, output)
        if let damage = store.damage { throw CommandError(damage) }
    }
}
