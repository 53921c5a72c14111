import CoreData
import Pippin

/// Converts records to models in two phases, properties first and relations second, so that records on cycles can be
/// converted.
///
/// ```swift
/// extension PersonRecord: RecordToModel {
///     func toModel() -> Person { Person(uid: id ?? "", name: name ?? "") }
///
///     func relationsToModel(_ person: inout Person, _ conversion: ModelConversion) throws {
///         person.friends = try conversion.models(of: friends)
///     }
/// }
/// ```
///
/// If a struct occurs again within itself, the inner occurrence has only its properties, since values cannot be cyclic;
/// an object of a class occurs as itself. For use on the queue of the records' context.
public final class ModelConversion {
    /// All class instances that were made.
    private var objects: [NSManagedObjectID: Any] = [:]
    /// The structs that are being made, and how deep each is.
    private var open: [NSManagedObjectID: (model: Any, depth: Int)] = [:]
    /// Structs within others that are the same wherever they occur, until the outermost call ends.
    private var finished: [NSManagedObjectID: Any] = [:]
    private var depth = 0
    private var calls = 0
    /// The depth of the outermost open struct that the present one has led back to.
    private var outermost = Int.max
    /// The structs on cycles that have been made within the present outermost one, and how many were made again.
    private var repeatable: Set<NSManagedObjectID> = []
    private var repetitions = 0

    /// A new conversion.
    public init() {}

    /// The model of a record.
    ///
    /// - Parameter record: the record.
    /// - Returns: nil if the model refuses the record (``ModelFromRecord``).
    /// - Throws: what `toModel` and `relationsToModel` throw, and ``PersistenceError/Code/unreadable`` if models are in
    ///   one another too many levels deep, or on too many paths.
    public func model<Record: RecordToModel>(of record: Record) throws -> Record.ModelType? {
        let identifier = record.objectID
        let isObject = Record.ModelType.self is AnyObject.Type
        if let known = known(identifier, isObject) as? Record.ModelType { return known }
        guard depth < RecordLimits.depth else { throw excess(record, RecordLimits.depthReason) }
        var model: Record.ModelType
        do { model = try record.toModel() } catch let error as PersistenceError
            where error.code == .notConvertible && error == record.refusal
        { return nil }
        calls += 1
        depth += 1
        defer {
            depth -= 1
            endCall()
        }
        if isObject {
            objects[identifier] = model
            try record.relationsToModel(&model, self)
            return model
        }
        let (level, outer) = (depth, outermost)
        if level == 1 { (repeatable, repetitions) = ([], 0) }
        open[identifier] = (model, level)
        outermost = .max
        defer {
            open[identifier] = nil
            outermost = min(outer, outermost)
        }
        try record.relationsToModel(&model, self)
        guard level > 1 else { return model }
        // A struct that leads back to itself, or to one around it, depends on where it occurs.
        if outermost > level {
            finished[identifier] = model
        } else if !repeatable.insert(identifier).inserted {
            repetitions += 1
            guard repetitions <= RecordLimits.repetitions else { throw excess(record, RecordLimits.repetitionsReason) }
        }
        return model
    }

    /// The models of records, in their order, without refused records.
    ///
    /// - Parameter records: the records: an array, or the value of a relationship.
    /// - Returns: the models.
    /// - Throws: what ``model(of:)`` throws.
    public func models<Record: RecordToModel>(of records: some Sequence<Record>) throws -> [Record.ModelType] {
        calls += 1
        defer { endCall() }
        return try records.compactMap { try model(of: $0) }
    }

    private func known(_ identifier: NSManagedObjectID, _ isObject: Bool) -> Any? {
        if isObject { return objects[identifier] }
        guard let open = open[identifier] else { return finished.isEmpty ? nil : finished[identifier] }
        outermost = min(outermost, open.depth)
        return open.model
    }

    private func endCall() {
        calls -= 1
        // Later calls may find other values.
        if calls == 0, !finished.isEmpty { finished = [:] }
    }

    private func excess(_ record: some DataRecord, _ reason: String) -> PersistenceError {
        .unreadable(
            entity: type(of: record).entityName, uid: record.identifierText, key: "",
            reason: reason + " Leave out a relation that leads on, and fetch what it leads to when it is needed.")
    }
}
