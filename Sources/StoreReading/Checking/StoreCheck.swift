import CoreData
import SQLGeneration
import SQLiteConnection
import SQLiteEngine
import StoreEngine

/// The defects of a store: of its file, its counters, its relationships, its unique values.
package struct StoreCheck {
    /// A defect.
    package struct Problem: Equatable {
        package enum Kind: String, Equatable {
            case file, counter, reference, unique, entity, value, structure
        }

        package let kind: Kind
        /// A sentence without its final period.
        package let text: String
    }

    package private(set) var problems: [Problem] = []

    /// Checks everything, without changing anything.
    ///
    /// - Parameters:
    ///   - url: the store's file.
    ///   - store: the store, open.
    ///   - progress: called with the next thing to be checked.
    /// - Throws: an error for a file that cannot be read at all.
    package init(of url: URL, _ store: DirectStore, progress: (String) throws -> Void = { _ in }) throws {
        if store.pagesByKey {
            try progress("file")
            let connection = try ReadingConnection.open(url)
            checkPages(connection, url)
            let isReadable = problems.isEmpty
            checkLength(connection, url)
            // Nothing else can be said about a damaged file.
            guard isReadable else { return }
            if let reason = store.missingMetadata {
                let text = "there are no metadata, without which no program opens the store: \(reason)"
                problems.append(Problem(kind: .file, text: text))
            }
            try checkModelCopy(connection)
            let schema = try ReadingConnection.schema(of: store, url)
            if store.modelGap == nil { problems += try BookkeepingCheck.problems(of: store.layout, schema, url) }
            for entity in store.layout.entities where entity.superentity == nil {
                try progress(entity.name)
                try checkRows(of: entity, schema, connection)
                problems += try ValueCheck(schema, connection).problems(of: entity)
            }
            try progress("derived attributes")
            problems += try DerivedCheck(schema, connection, metadata: store.store.metadata).problems()
            try checkExternalData(of: store, connection)
            if let text = store.original.flatMap(UnreadLog.text) { problems.append(Problem(kind: .file, text: text)) }
        } else {
            problems +=
                DocumentProblems(
                    of: try DocumentStore.contents(of: url, type: store.store.type), store.layout,
                    isDerived: store.modelGap != nil
                ).found
        }
        try store.asking { engine in
            problems += (engine.inspection?.findings ?? []).map {
                Problem(kind: .structure, text: "there is \($0.text)")
            }
            for entity in store.layout.entities {
                for relationship in entity.relationships where !relationship.isTransient {
                    try progress("\(entity.name).\(relationship.name)")
                    try checkReferences(of: relationship, from: entity, engine)
                }
            }
        }
    }

    /// The defects of a file that cannot be opened as a store.
    package static func damage(of url: URL) -> [Problem] {
        guard let kind = try? StoreKind(of: url) else { return [] }
        guard kind == .sqlite else {
            guard let contents = try? DocumentStore.contents(of: url, type: kind.type) else { return [] }
            return DocumentProblems(of: contents, nil, isDerived: true).found
        }
        guard let copy = try? PrivateCopy(of: url),
            let connection = try? Connection(path: copy.url.path, mode: .readWrite)
        else { return [] }
        try? StoreFunctions.register(on: connection, derived: DerivedValues())
        var check = StoreCheck()
        check.checkPages(connection, copy.url, log: ForeignLog.text(url))
        return check.problems
    }

    private init() {}

    // MARK: The file

    private mutating func checkPages(_ connection: Connection, _ url: URL, log: String = "") {
        do {
            let statement = try connection.prepare("PRAGMA integrity_check(20)")
            while try statement.step() {
                let line = statement.string(at: 0)
                if line != "ok" {
                    problems.append(Problem(kind: .file, text: "the file is damaged: \(TextTools.inOneLine(line))"))
                }
            }
        } catch {
            // The file is a copy, whose path says nothing.
            let reason = (error as? SQLiteError)?.message ?? "\(error)"
            let missing = SQLiteHeader(of: url)?.missingBytes.map { "; \($0) bytes are missing at its end" } ?? ""
            let cause = log.isEmpty ? missing : log
            problems.append(
                Problem(
                    kind: .file, text: "the file cannot be read: \(TextTools.withoutPeriod(reason))\(cause)"))
        }
    }

    /// What a file lacks of its last page, SQLite reads as zeros: it may find nothing wrong.
    private mutating func checkLength(_ connection: Connection, _ url: URL) {
        func size(_ suffix: String) -> Int64 {
            var facts = stat()
            return stat(url.path + suffix, &facts) == 0 ? Int64(facts.st_size) : 0
        }
        // Pages in the log need not be in the file.
        guard size("-wal") == 0, let count = try? connection.integer("PRAGMA page_count"),
            let length = try? connection.integer("PRAGMA page_size")
        else { return }
        let missing = count * length - size("")
        guard missing > 0 else { return }
        problems.append(
            Problem(
                kind: .file,
                text: "the file is cut off: \(TextTools.count(Int(missing), "byte")) \(missing == 1 ? "is" : "are") "
                    + "missing at its end, where rows may have lost values"))
    }

    /// A damaged copy of the model keeps a program from opening the store with a model that has no hashes of Apple's.
    private mutating func checkModelCopy(_ connection: Connection) throws {
        let copies = try connection.modelCopies(connection.tableNames())
        if copies.count > 1 {
            problems.append(
                Problem(
                    kind: .file,
                    text:
                        "the store keeps \(copies.count) copies of its model (Z_MODELCACHE), where Core Data keeps one")
            )
        }
        let reasons = copies.compactMap(ModelCandidate.damage)
        guard let reason = reasons.first else { return }
        problems.append(
            Problem(
                kind: .file,
                text:
                    "the copy of its model that the store keeps (Z_MODELCACHE) is damaged (\(reason)); without that row, "
                    + "it opens with a model whose tables are its own"))
    }

    private mutating func checkExternalData(of store: DirectStore, _ connection: Connection) throws {
        guard let original = store.original,
            let text = MissingFiles.text(of: try ExternalDataSummary(connection, store: original))
        else { return }
        problems.append(Problem(kind: .file, text: text + " beside the store"))
    }

    // MARK: Rows

    private mutating func checkRows(of entity: EntityLayout, _ schema: SQLSchema, _ connection: Connection) throws {
        guard let mapping = schema.mapping(of: entity) else { return }
        let greatest = try connection.integer(StoreCheckSQL.greatestKey(of: mapping.table))
        let counter = try connection.integer(StoreCheckSQL.counter(of: mapping.number))
        // The counter of a table without rows may be anything: for some years, Core Data started at -1.
        if let greatest, greatest > counter ?? 0 {
            problems.append(
                Problem(
                    kind: .counter,
                    text:
                        "the counter of “\(entity.name)” is \(counter.map(String.init) ?? "missing"), and there is an object with the number \(greatest): "
                        + "a new object would get a number that is taken"))
        }
        if let text = try StrangeRows.text(of: mapping, connection)
            ?? StrangeRows.misnumbered(in: mapping, connection)
        {
            problems.append(Problem(kind: .entity, text: text))
        }
        let indexes = try Self.uniqueIndexes(of: mapping.table, connection)
        for owner in entity.selfAndSubentities {
            guard let mapping = schema.mapping(of: owner) else { continue }
            let inherited = Set((owner.superentity?.uniquenessConstraints ?? []).map { $0.joined(separator: "\u{0}") })
            for constraint in owner.uniquenessConstraints
            where !inherited.contains(constraint.joined(separator: "\u{0}")) {
                let columns = constraint.compactMap { mapping.column(named: $0)?.name }
                if columns.count == constraint.count, !indexes.contains(Set(columns)) {
                    problems.append(
                        Problem(
                            kind: .structure,
                            text: "there is no unique index for “\(owner.name).\(constraint.joined(separator: ", "))”"))
                }
                guard let sql = StoreCheckSQL.sharedValues(of: constraint, in: mapping),
                    let count = try connection.integer(sql), count > 0
                else { continue }
                problems.append(
                    Problem(
                        kind: .unique,
                        text:
                            "\(TextTools.count(Int(count), "value")) of “\(owner.name).\(constraint.joined(separator: ", "))” "
                            + "\(count == 1 ? "is" : "are") not unique"))
            }
        }
    }

    /// The columns of each unique index of a table.
    private static func uniqueIndexes(of table: String, _ connection: Connection) throws -> [Set<String>] {
        let statement = try connection.prepare(StoreCheckSQL.uniqueColumns(of: table))
        var columns: [String: Set<String>] = [:]
        while try statement.step() {
            // The key of the table, and an expression, have no name.
            columns[statement.string(at: 0), default: []].insert(statement.optionalString(at: 1) ?? "")
        }
        return Array(columns.values)
    }

    // MARK: References

    private mutating func checkReferences(
        of relationship: RelationshipLayout, from entity: EntityLayout, _ engine: any StoreEngine
    ) throws {
        guard let inspection = engine.inspection else { return }
        let found: [Int64: [NSManagedObjectID]]
        do { found = try inspection.danglingReferences(of: relationship, from: entity) } catch {
            // Tables that are not there are among the findings.
            let roots = [entity.root.name, relationship.destination.root.name]
            if inspection.findings.contains(where: { $0.property == nil && roots.contains($0.entity) }) { return }
            let reason = TextTools.withoutPeriod(error.localizedDescription)
            problems.append(
                Problem(
                    kind: .reference, text: "“\(entity.name).\(relationship.name)” cannot be looked through: \(reason)")
            )
            return
        }
        guard !found.isEmpty else { return }
        let names = found.keys.sorted().prefix(TextTools.mostNamed).map { "\(entity.name)/p\($0)" }
            .joined(separator: ", ")
        let rest = found.count > TextTools.mostNamed ? ", …" : ""
        problems.append(
            Problem(
                kind: .reference,
                text: "“\(entity.name).\(relationship.name)” of \(TextTools.count(found.count, "object")) leads to "
                    + "“\(relationship.destination.name)” objects that are gone: \(names)\(rest)"))
    }
}
