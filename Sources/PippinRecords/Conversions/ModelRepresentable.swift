import Pippin

/// A record that represents a model, usually a struct that the app works with.
///
/// Adopt ``RecordFromModel`` to save such models, ``RecordToModel`` to fetch them; both infer the model's type.
public protocol ModelRepresentable: DataRecord where UidType == ModelType.ID {
    /// The model that the record represents. Both have the same type of identifier.
    associatedtype ModelType: Identifiable & SendableMetatype

    /// The model's type of identifier.
    associatedtype UidType = ModelType.ID
}
