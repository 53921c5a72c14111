import Pippin

/// A record that its model can be made of.
///
/// ```swift
/// extension PersonRecord: RecordToModel {
///     func toModel() -> Person {
///         Person(uid: id ?? "", name: name ?? "")
///     }
/// }
/// ```
public protocol RecordToModel: ModelRepresentable {
    /// The type of the model that the record stands for. The method below implies it.
    associatedtype ModelType

    /// The model with this record's values.
    ///
    /// An implementation that cannot fail leaves out the `throws`.
    ///
    /// - Returns: the model, whose relations `relationsToModel(_:_:)` completes.
    /// - Throws: what keeps the record from being a model; the fetch throws that, too.
    func toModel() throws -> ModelType

    /// Completes the model with what the record leads to. Unless you say otherwise, nothing.
    ///
    /// - Parameters:
    ///   - model: the model, with its properties.
    ///   - conversion: makes the models of other records.
    /// - Throws: what keeps the model from being completed; the fetch throws that, too.
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
