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
    /// The models that are being made, and all class instances that were.
    private var models: [NSManagedObjectID: Any] = [:]

    /// A new conversion.
    public init() {}

    /// The model of a record.
    ///
    /// - Parameter record: the record.
    /// - Returns: nil if the model refuses the record (``ModelFromRecord``).
    /// - Throws: what `toModel` and `relationsToModel` throw.
    public func model<Record: RecordToModel>(of record: Record) throws -> Record.ModelType? {
        let identifier = record.objectID
        if let known = models[identifier] as? Record.ModelType { return known }
        var model: Record.ModelType
        do { model = try record.toModel() } catch let error as PersistenceError where error.code == .notConvertible {
            return nil
        }
        models[identifier] = model
        let isObject = Record.ModelType.self is AnyObject.Type
        defer { if !isObject { models[identifier] = nil } }
        try record.relationsToModel(&model, self)
        return model
    }

    /// The models of records, in their order, without refused records.
    ///
    /// - Parameter records: the records: an array, or the value of a relationship.
    /// - Returns: the models.
    /// - Throws: what `toModel` and `relationsToModel` throw.
    public func models<Record: RecordToModel>(of records: some Sequence<Record>) throws -> [Record.ModelType] {
        try records.compactMap { try model(of: $0) }
    }
}
