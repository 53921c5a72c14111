import Pippin
import PredicateFormat
import StoreSession
import SyncPlanning

/// A closure of a schema, which runs on structs.
struct SchemaClosure: Sendable {
    enum Kind: Hashable, Sendable {
        case merge
        /// With the names of the properties that are unique together.
        case rename([String])
    }

    let kind: Kind
    /// Runs it, and gives the row's values afterwards; nil if the structs could not be read.
    let run: @Sendable (ClosureDesk) throws -> [String: SyncValue]?

    init(kind: Kind, _ run: @escaping @Sendable (ClosureDesk) throws -> [String: SyncValue]?) {
        (self.kind, self.run) = (kind, run)
    }
}

/// The closures of a program's schemas. Structs are made of rows, and taken apart again, by a store in memory that has
/// the program's models: what a closure gets is what a fetch would give it.
final class ProgramClosures: @unchecked Sendable {
    // @unchecked Sendable: the queue of the sync alone uses it.

    private let merges: [String: SchemaClosure]
    private let renames: [String: [[String]: SchemaClosure]]
    private let scratch: PersistenceManager
    private var opened: SyncMapping?

    /// Fails for a program without closures.
    ///
    /// - Parameters:
    ///   - manager: the device's store.
    ///   - mapping: its model.
    init?(_ manager: PersistenceManager, _ mapping: SyncMapping) {
        var merges: [String: SchemaClosure] = [:]
        var renames: [String: [[String]: SchemaClosure]] = [:]
        let attachments = manager.registry.attachments
        for entity in mapping.entities {
            for case let closure as SchemaClosure in attachments[entity.layout.name] ?? [] {
                switch closure.kind {
                case .merge: merges[entity.name] = closure
                case .rename(let stored):
                    guard let unique = SyncRules.uniqueProperties(of: entity).first(where: { $0.stored == stored })
                    else { continue }
                    renames[entity.name, default: [:]][unique.names] = closure
                }
            }
        }
        if merges.isEmpty, renames.isEmpty { return nil }
        (self.merges, self.renames) = (merges, renames)
        scratch = manager.manager(name: "\(manager.name) in memory", of: .memory)
    }

    /// The rules of a step.
    ///
    /// - Parameter reading: reads the rows that the device shows, which structs contain beside the merged ones. It is
    ///   used during the step.
    /// - Returns: the rules. A closure that fails gives nil.
    func rules(_ reading: RowReading) -> ProgramRules {
        let shown = Shown(reading: reading)
        return ProgramRules(
            merge: { [self] id, old, mine, theirs in
                guard let closure = merges[id.entity] else { return nil }
                return run(closure, id, old: old, mine: theirs.merging(mine) { $1 }, theirs: theirs, shown)
            },
            rename: { [self] id, values, properties in
                guard let closure = renames[id.entity]?[properties] else { return nil }
                return run(closure, id, old: nil, mine: values, theirs: values, shown)
            })
    }

    private struct Shown: @unchecked Sendable {
        // @unchecked Sendable: closures run on the thread that plans the step.
        let reading: RowReading
    }

    private func run(
        _ closure: SchemaClosure, _ id: RowID, old: [String: SyncValue]?, mine: [String: SyncValue],
        theirs: [String: SyncValue], _ shown: Shown
    ) -> [String: SyncValue]? {
        do {
            let mapping = try opened ?? SyncMapping(openedScratch().modelLayout)
            opened = mapping
            let desk = ClosureDesk(id: id, old: old, mine: mine, theirs: theirs, scratch, mapping)
            defer { desk.clear() }
            try desk.lay(
                Self.neighbours(
                    of: id, [old ?? [:], mine, theirs].flatMap { $0.values.flatMap(\.references) }, shown.reading))
            return try closure.run(desk)
        } catch {
            return nil
        }
    }

    private func openedScratch() throws -> StoreSession {
        try scratch.openIfNeeded()
        return scratch.session
    }

    /// How many rows a struct may contain, and how deep.
    static let (mostRows, deepest) = (100_000, 16)

    /// The rows that a row's struct may contain: those that it refers to, directly or not, and those that refer to it.
    static func neighbours(
        of id: RowID, _ references: [RowID], _ reading: RowReading
    ) throws -> [RowID: PlannedRow] {
        var rows: [RowID: PlannedRow] = [:]
        var missing = Set(references).union(try reading.referrers(of: [id])[id] ?? [])
        for _ in 0..<Self.deepest where !missing.isEmpty && rows.count < Self.mostRows {
            missing.remove(id)
            let found = try reading.rows(missing)
            rows.merge(found) { $1 }
            missing = Set(found.values.flatMap { $0.references().map(\.destination) }).filter { rows[$0] == nil }
            missing.subtract(found.keys)
        }
        return rows
    }
}

/// Makes structs of rows in a store in memory, for those who are asked about a row's change.
final class ScratchModels: @unchecked Sendable {
    // @unchecked Sendable: the queue of the server alone uses it.
    private let scratch: PersistenceManager
    private var opened: SyncMapping?

    init(_ manager: PersistenceManager) {
        scratch = manager.manager(name: "\(manager.name) in memory", of: .memory)
    }

    fileprivate func model<Model: CoreModel>(
        _ type: Model.Type, _ id: RowID, _ values: [String: SyncValue], _ reading: RowReading
    ) throws -> Model? {
        try scratch.openIfNeeded()
        let mapping = try opened ?? SyncMapping(scratch.session.modelLayout)
        opened = mapping
        let desk = ClosureDesk(id: id, old: nil, mine: values, theirs: values, scratch, mapping)
        defer { desk.clear() }
        try desk.lay(ProgramClosures.neighbours(of: id, values.values.flatMap(\.references), reading))
        return try desk.model(type, values)
    }
}

/// A row, of which a struct can be made during one transaction of the store.
struct ModelSource: @unchecked Sendable {
    // @unchecked Sendable: used on the thread that runs the transaction.
    private let id: RowID
    private let values: [String: SyncValue]
    private let models: ScratchModels
    private let reading: RowReading

    init(_ id: RowID, _ values: [String: SyncValue], _ models: ScratchModels, _ reading: RowReading) {
        (self.id, self.values, self.models, self.reading) = (id, values, models, reading)
    }

    func model<Model: CoreModel>(_ type: Model.Type) throws -> Model? {
        try models.model(type, id, values, reading)
    }
}

/// Where a closure's structs are made and taken apart.
struct ClosureDesk {
    let id: RowID
    let old: [String: SyncValue]?
    let mine: [String: SyncValue]
    let theirs: [String: SyncValue]
    private let manager: PersistenceManager
    private let mapping: SyncMapping

    init(
        id: RowID, old: [String: SyncValue]?, mine: [String: SyncValue], theirs: [String: SyncValue],
        _ manager: PersistenceManager, _ mapping: SyncMapping
    ) {
        (self.id, self.old, self.mine, self.theirs) = (id, old, mine, theirs)
        (self.manager, self.mapping) = (manager, mapping)
    }

    /// The struct of the row with some values; nil if there is none.
    func model<Model: CoreModel>(_ type: Model.Type, _ values: [String: SyncValue]) throws -> Model? {
        try write([id: PlannedRow(values: values)])
        guard let row = try reading().find([id])[id]?.row else { return nil }
        let filter = Filter<Model>(predicate: NSPredicate(format: "SELF IN %@", argumentArray: [[row.objectID]]))
        return try manager.readAndWait { try $0.fetch(Model.self, where: filter).first }
    }

    /// The row's values once a struct is saved where it had some others.
    func values<Model: CoreModel>(of model: Model, after values: [String: SyncValue]) throws -> [String: SyncValue]? {
        try write([id: PlannedRow(values: values)])
        try manager.writeAndWait { try $0.save(model) }
        return try reading().rows([id])[id]?.values
    }

    /// Puts rows there, with the row itself, to which they may refer.
    func lay(_ rows: [RowID: PlannedRow]) throws {
        var targets = rows.mapValues { Optional.some($0) }
        targets[id] = .some(PlannedRow(values: mine))
        try write(targets)
    }

    /// Takes everything away, so that the next closure sees nothing of this one's rows.
    func clear() {
        guard let reading = try? reading() else { return }
        var targets: [RowID: PlannedRow?] = [:]
        for entity in mapping.entities {
            var plan = FetchPlan(entity: entity.layout)
            plan.includesSubentities = false
            _ = try? reading.store.engine.forEachRow(plan) { row in
                if let value = try? row.value(at: entity.keySlot), let text = SyncValues.text(ofKey: value) {
                    targets[RowID(entity.name, text)] = .some(nil)
                }
                return true
            }
        }
        try? write(targets)
    }

    private func store() throws -> SessionStore {
        guard let store = manager.session.onlyStore else {
            throw SyncError.noHistory(manager.name, "it is not one store")
        }
        return store
    }

    private func reading() throws -> RowReading { RowReading(mapping, manager.session, try store()) }

    private func write(_ targets: [RowID: PlannedRow?]) throws {
        let (session, store) = (manager.session, try store())
        try session.withLock {
            try session.saveRows(to: store, in: nil) { countsKeys in
                var writing = RowWriting(mapping, session, store, countsKeys: countsKeys, nil)
                let changes = try writing.changes(to: targets)
                return changes.isEmpty ? nil : changes
            }
        }
    }
}
