import CoreData
import Foundation
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

/// What is wrong in the tables in which a store says what it is: its UUID, and its entities with their numbers.
enum BookkeepingCheck {
    /// - Parameters:
    ///   - layout: the store's own model.
    ///   - schema: its tables.
    ///   - url: the file.
    /// - Returns: the defects.
    /// - Throws: SQLite's errors.
    static func problems(of layout: ModelLayout, _ schema: SQLSchema, _ url: URL) throws -> [StoreCheck.Problem] {
        let file = try RawStoreFile.forReading(url)
        var problems: [StoreCheck.Problem] = []
        if let uuid = try file.metadata()?.uuid, UUID(uuidString: uuid) == nil {
            let text = "the UUID of the store (Z_METADATA.Z_UUID) is “\(TextTools.inOneLine(uuid))”, and no valid UUID"
            problems.append(StoreCheck.Problem(kind: .file, text: text))
        }
        let rows = try file.entities()
        let numbers = Set(rows.map(\.number))
        let names = Dictionary(rows.map { ($0.number, $0.name) }, uniquingKeysWith: { first, _ in first })
        let parents = Dictionary(rows.map { ($0.number, $0.parent) }, uniquingKeysWith: { first, _ in first })
        for entity in layout.entities {
            // An entity of another configuration has no table here, and needs no number.
            guard let mapping = schema.mapping(of: entity), file.tables.contains(mapping.table) else { continue }
            guard numbers.contains(mapping.number), let parent = parents[mapping.number] else {
                let text =
                    "Z_PRIMARYKEY has no row for “\(entity.name)”, so that no object of it can be saved"
                problems.append(StoreCheck.Problem(kind: .entity, text: text))
                continue
            }
            let expected = entity.superentity.flatMap { schema.mapping(of: $0)?.number } ?? 0
            guard parent != expected else { continue }
            let found = names[parent].map { "“\($0)”" } ?? (parent == 0 ? "none" : "no entity’s number, \(parent)")
            let text =
                "the superentity of “\(entity.name)” (Z_PRIMARYKEY.Z_SUPER) is \(found), and in the model it is "
                + (entity.superentity.map { "“\($0.name)”" } ?? "none")
            problems.append(StoreCheck.Problem(kind: .entity, text: text))
        }
        return problems
    }
}

/// The values of a store whose files are gone.
package enum MissingFiles {
    /// `1 of 3 files with values is missing`, for a store in a file; nil if there are all.
    package static func text(of store: URL) throws -> String? {
        text(of: try ExternalDataSummary(database: store, store: store))
    }

    static func text(of summary: ExternalDataSummary) -> String? {
        guard summary.missing > 0 else { return nil }
        return "\(summary.missing) of \(TextTools.count(summary.values, "file")) with values "
            + "\(summary.missing == 1 ? "is" : "are") missing"
    }
}

/// Finds values in the rows of a store that no object can have: values of another kind than their property, none where
/// one is required, rows of an abstract entity, pairs that lead in one direction only. Reads each table once for all of
/// its columns.
package struct ValueCheck {
    let schema: SQLSchema
    let connection: Connection

    init(_ schema: SQLSchema, _ connection: Connection) { (self.schema, self.connection) = (schema, connection) }

    /// - Parameter root: an entity without a superentity. Its subentities are checked, too.
    /// - Returns: the defects, in the order of the entities and their properties.
    /// - Throws: SQLite's errors.
    func problems(of root: EntityLayout) throws -> [StoreCheck.Problem] {
        try root.selfAndSubentities.flatMap { entity -> [StoreCheck.Problem] in
            guard let mapping = schema.mapping(of: entity) else { return [] }
            return try abstract(mapping) + missing(in: mapping) + misread(in: mapping) + strangePairs(from: mapping)
                + oneSided(from: mapping)
        }
    }

    // MARK: What is wrong

    private func abstract(_ mapping: EntityMapping) throws -> [StoreCheck.Problem] {
        guard mapping.layout.isAbstract, mapping.sharesTable,
            let count = try connection.integer(ValueCheckSQL.own(rowsOf: mapping)), count > 0
        else { return [] }
        let text =
            "\(TextTools.count(Int(count), "object")) \(count == 1 ? "is" : "are") of “\(mapping.layout.name)”, which is abstract"
        return [StoreCheck.Problem(kind: .entity, text: text)]
    }

    /// Required values that are missing, without which no object can be saved or imported.
    private func missing(in mapping: EntityMapping) throws -> [StoreCheck.Problem] {
        var found = MisreadColumn.required(of: mapping)
        try MisreadColumn.look(for: &found, in: mapping, connection)
        return found.compactMap(\.text).map { StoreCheck.Problem(kind: .value, text: $0) }
    }

    /// Values of an entity's own properties that are read as something else: those of its superentities are checked
    /// with them.
    func misread(in mapping: EntityMapping) throws -> [StoreCheck.Problem] {
        let inherited = mapping.layout.superentity?.slots.count ?? 0
        var found = MisreadColumn.all(of: mapping, slots: Array(mapping.layout.slots.indices.dropFirst(inherited)))
        try MisreadColumn.look(for: &found, in: mapping, connection)
        return found.compactMap(\.text).map { StoreCheck.Problem(kind: .value, text: $0) }
    }

    /// Pairs with a key that is not a number. Each end of a relationship has its column checked from the other one.
    func strangePairs(from mapping: EntityMapping) throws -> [StoreCheck.Problem] {
        try mapping.layout.relationships.compactMap { relationship -> StoreCheck.Problem? in
            guard relationship.source === mapping.layout, mapping.toManys.indices.contains(relationship.index),
                case .joinTable(let join)? = mapping.toManys[relationship.index]
            else { return nil }
            let isSeenFromBoth = relationship.inverse.map { $0 !== relationship && !$0.isTransient } ?? false
            let columns = (isSeenFromBoth ? [] : [join.sourceColumn]) + [join.destinationColumn]
            guard let count = try connection.integer(ValueCheckSQL.strangePairs(in: join, columns: columns)), count > 0
            else { return nil }
            let text =
                "“\(mapping.layout.name).\(relationship.name)” has \(TextTools.count(Int(count), "pair")) in \(join.table) "
                + "with a key that is not an object’s number"
            return StoreCheck.Problem(kind: .value, text: text)
        }
    }

    private func oneSided(from mapping: EntityMapping) throws -> [StoreCheck.Problem] {
        try mapping.layout.toOnes.compactMap { relationship in
            guard relationship.source === mapping.layout, let inverse = relationship.inverse, !inverse.isToMany,
                !relationship.isTransient, !inverse.isTransient, let column = mapping.columns[relationship.slot],
                let destination = schema.mapping(of: relationship.destination),
                let back = schema.mapping(of: inverse.source)?.columns[inverse.slot]
            else { return nil }
            let statement = try connection.prepare(
                ValueCheckSQL.oneSided(column, of: mapping, back: back, of: destination))
            var keys: [Int64] = []
            while try statement.step() { keys.append(statement.integer(at: 0)) }
            guard !keys.isEmpty else { return nil }
            let names = keys.prefix(TextTools.mostNamed).map { "\(mapping.layout.name)/p\($0)" }
            let rest = keys.count > names.count ? ", …" : ""
            let text =
                "“\(mapping.layout.name).\(relationship.name)” of \(TextTools.count(keys.count, "object")) leads to objects whose "
                + "“\(inverse.name)” does not lead back: \(names.joined(separator: ", "))\(rest)"
            return StoreCheck.Problem(kind: .reference, text: text)
        }
    }
}
