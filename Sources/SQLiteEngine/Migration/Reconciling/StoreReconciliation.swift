import CoreDataModel
import Foundation
import MigrationPlans
import SQLGeneration
import SQLiteConnection
import StoreEngine

/// A store compared with a program's model, and the way to open it so that nothing is lost without permission: see
/// ``ModelReconciliation``.
package struct StoreReconciliation: ReconcilableStore {
    package let url: URL
    package let reconciliation: ModelReconciliation
    /// The model with which a coordinator can open the store.
    package let model: NSManagedObjectModel
    /// Whether the store must be migrated to be opened with the model.
    package let isMigrationNeeded: Bool
    package let source: NSManagedObjectModel
    private let program: NSManagedObjectModel
    private let rules: ReconciliationRules
    private let timeout: Double

    /// Compares a store with a program's model, without changing anything.
    ///
    /// The result is `nil` if there is no store yet.
    ///
    /// - Parameters:
    ///   - url: the location of the store.
    ///   - program: the model of the program.
    ///   - rules: the program's rules for renamed, removed and converted values.
    ///   - timeout: seconds to wait for a lock.
    /// - Throws: the errors of opening a store, and 134130 for one whose model cannot be found.
    package init?(
        at url: URL, program: NSManagedObjectModel, rules: ReconciliationRules,
        timeout: Double = StoreSettings.defaultTimeout
    ) throws {
        guard !url.isNoFile, FileManager.default.fileExists(atPath: url.path) else { return nil }
        let file = try StoreFile.openForReading(url, timeout: timeout)
        if try file.isEmpty() { return nil }
        self.url = url
        self.program = program
        self.rules = rules
        self.timeout = timeout
        source = try SourceModel.find(file, near: program)
        let document = try ModelDocument(program)
        let reconciliation = ModelReconciliation(program: document, stored: try ModelDocument(source), rules: rules)
        self.reconciliation = reconciliation
        let metadata = try file.metadata()
        if reconciliation.model.compiled == document.compiled {
            model = program
        } else {
            // Entities that are left alone keep their version hashes.
            let hashes = StoreMetadata.hashes(in: metadata)
            let recorded = source.entities.filter { $0.recordedVersionHash != nil }.compactMap(\.name)
            model = try ModelAssembler.model(
                reconciliation.model,
                versionHashes: hashes.filter {
                    recorded.contains($0.key) && reconciliation.leftAlone.contains($0.key)
                })
        }
        let supposed = source
        isMigrationNeeded = try !StoreCompatibility.differences(model.entities, metadata: metadata) {
            try file.model(orSupposed: supposed)
        }.isEmpty
    }

    // MARK: Obstacles

    /// The data that would be lost, with the numbers of rows; empty if the store can be migrated.
    package func losses() throws -> [CountedLoss] {
        guard !reconciliation.losses.isEmpty else { return [] }
        let (file, schema) = try stored()
        return try file.run("count the rows of") {
            try OtherParts.register(file.connection)
            return try reconciliation.losses(in: schema, hasOtherParts: OtherParts.sql) {
                Int(try file.connection.integer($0) ?? 0)
            }
        }
    }

    /// Existing values that violate new uniqueness constraints.
    ///
    /// - Parameter limit: the number of examples for each constraint.
    /// - Returns: the values, by constraint; empty if all are unique.
    /// - Throws: the errors of reading the store.
    package func sharedValues(limit: Int) throws -> [SharedValues] {
        let (file, schema) = try stored()
        let indexes = try StoreStructure(file).indexes
        return try reconciliation.sharedValues(in: schema, limit: limit) { mapping, columns in
            let names = columns.map(\.property).joined(separator: "_")
            return indexes["Z_\(mapping.layout.name)_UNIQUE_\(names)"] != nil
        } groups: { sql, width in
            try file.run("read the values of") { try file.groups(sql, width) }
        }
    }

    package func sharedMembers(limit: Int) throws -> [SharedMembers] {
        guard !reconciliation.exclusive.isEmpty else { return [] }
        let (file, schema) = try stored()
        return try reconciliation.sharedMembers(in: schema, limit: limit) { sql in
            try file.run("read the objects of") { try file.groups(sql, 1) }
        }
    }

    private func stored() throws -> (StoreFile, SQLSchema) {
        let file = try StoreFile.openForReading(url, timeout: timeout)
        let catalog = try file.catalog()
        let names = Set(StoreMetadata.hashes(in: try file.metadata()).keys)
        let schema = SQLSchema(
            layout: try source.compiledLayout(), entityNames: names.isEmpty ? nil : names,
            numbers: catalog.numbers(for: source), catalog: catalog)
        return (file, schema)
    }

    // MARK: Doing it

    /// Migrates the store to the ``model``, and makes missing indexes. It is only for a store that loses nothing by it.
    ///
    /// Entities keep their numbers, and entities that are left alone keep their tables, so that other programs can
    /// continue to use the store.
    ///
    /// - Parameter defersCleanup: whether removing what is no longer needed is deferred.
    /// - Throws: 134140 and 134190 if no mapping can be inferred, 134110 if the objects do not fit, 134111 if values
    ///   that must be unique are not, 134090 if somebody else changed the store meanwhile. The store is then unchanged.
    package func migrate(defersCleanup: Bool) throws {
        if isMigrationNeeded {
            var plan: MappingPlan
            do {
                plan = try MappingInference.plan(from: source, to: model, dropping: reconciliation.dropped)
            } catch {
                throw MigrationError.missingMappingModel(
                    url: url, source: source, destination: model, underlying: error)
            }
            plan.emptyEntities = reconciliation.replaced
            let file = try StoreFile.open(url, mode: .readWrite, timeout: timeout)
            try InPlaceMigrator(
                file, from: source, to: model, plan: plan, configuration: nil, defersCleanup: defersCleanup,
                keepsNumbers: true
            ).run()
        } else {
            try IndexRenewal(url: url, model: model, timeout: timeout).run(
                entities: Set(program.entities.compactMap(\.name)), releasing: rules.releasedConstraints)
        }
    }
}

extension StoreFile {
    /// Values with the numbers of rows that have them.
    fileprivate func groups(_ sql: SQLFragment, _ width: Int) throws -> [(values: [String], rows: Int)] {
        var groups: [(values: [String], rows: Int)] = []
        let statement = try connection.prepare(sql)
        while try statement.step() {
            let values = (0..<width).map { statement.value(at: Int32($0)).spoken }
            groups.append((values, Int(statement.integer(at: Int32(width)))))
        }
        return groups
    }
}

extension SQLValue {
    /// The value in a message.
    fileprivate var spoken: String {
        switch self {
        case .null: "none"
        case .integer(let number): String(number)
        case .double(let number): String(number)
        case .text(let text): "'\(text)'"
        case .blob(let data):
            data.count == 16
                ? data.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)).uuidString }
                : "\(data.count) bytes"
        }
    }
}

/// Finds parts of nested JSON that would be lost if it got columns of its own.
enum OtherParts {
    /// The SQL for whether the JSON in a column has other parts than some.
    ///
    /// - Throws: an error of encoding.
    static func sql(_ column: String, _ parts: NestedParts) throws -> SQLFragment {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let known = String(decoding: try encoder.encode(parts), as: UTF8.self)
        return "\(word: SQLFunctionName.hasOtherParts)(\(name: column), \(text: known))"
    }

    /// Registers the function with SQL. What is not JSON counts as another part.
    static func register(_ connection: Connection) throws {
        try connection.register(function: SQLFunctionName.hasOtherParts, argumentCount: 2) { arguments in
            guard let data = arguments.data(at: 0), let known = arguments.string(at: 1) else { return .integer(0) }
            do {
                let parts = try JSONDecoder().decode(NestedParts.self, from: Data(known.utf8))
                guard let value = try? NestedJSONValue(data) else { return .integer(1) }
                return .integer(value.hasOthers(than: parts) ? 1 : 0)
            } catch {
                return .failure("\(error)")
            }
        }
    }
}

extension NestedJSONValue {
    /// Whether the value has anything for which the parts have no place. An empty list has nothing.
    func hasOthers(than parts: NestedParts) -> Bool {
        switch self {
        case .null: return false
        case .array(let elements): return !elements.isEmpty
        case .object(let members):
            return members.contains { key, value in
                guard !value.isNull else { return false }
                guard let part = parts.members[key] else { return true }
                return part.map { value.hasOthers(than: $0) } ?? false
            }
        default: return true
        }
    }
}
