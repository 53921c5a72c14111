import Pippin

/// A record that can be converted to its model.
///
/// ```swift
/// extension PersonRecord: RecordToModel {
///     func toModel() -> Person {
///         Person(uid: id ?? "", name: name ?? "")
///     }
/// }
/// ```
public protocol RecordToModel: ModelRepresentable {
    /// The type of the model that the record represents. The method below implies it.
    associatedtype ModelType

    /// The model with this record's values.
    ///
    /// An implementation that cannot fail omits `throws`.
    ///
    /// - Returns: the model, whose relations `relationsToModel(_:_:)` completes.
    /// - Throws: the reason why the record cannot be converted; the fetch throws it, too.
    func toModel() throws -> ModelType

    /// Adds the record's relations to the model. By default it does nothing.
    ///
    /// - Parameters:
    ///   - model: the model, with its properties.
    ///   - conversion: converts other records.
    /// - Throws: the reason why the model cannot be completed; the fetch throws it, too.
    func relationsToModel(_ model: inout ModelType, _ conversion: ModelConversion) throws
}

extension RecordToModel {
    /// Does nothing.
    ///
    /// - Parameters:
    ///   - model: not used.
    ///   - conversion: not used.
    /// - Throws: nothing; an implementation of yours may throw.
    public func relationsToModel(_ model: inout ModelType, _ conversion: ModelConversion) throws {}
}
