import CoreData
import Pippin

/// Makes models of records in two phases, properties first and relations second, so that records that lead back to themselves
/// can be converted.
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
/// A struct that is met again within itself comes there with its properties alone, since values cannot go round in circles; an
/// object of a class comes as itself. For use on the queue of the records' context.
public final class ModelConversion {
    /// The models that are being made, and all objects that were.
    private var models: [NSManagedObjectID: Any] = [:]

    /// A conversion of its own.
    public init() {}

    /// The model of a record.
    ///
    /// - Parameter record: the record.
    /// - Returns: nil where the model refuses the record (``ModelFromRecord``).
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

    /// The models of records, in their order, without those that are refused.
    ///
    /// - Parameter records: the records: an array, or what a relationship holds.
    /// - Returns: the models.
    /// - Throws: what `toModel` and `relationsToModel` throw.
    public func models<Record: RecordToModel>(of records: some Sequence<Record>) throws -> [Record.ModelType] {
        try records.compactMap { try model(of: $0) }
    }
}
