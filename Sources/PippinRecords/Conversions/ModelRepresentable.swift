import Pippin

/// A record that stands for a model: a struct, usually, that the app works with.
///
/// Adopt ``RecordFromModel`` to save such models, ``RecordToModel`` to fetch them; both name the model by themselves.
public protocol ModelRepresentable: DataRecord where UidType == ModelType.ID {
    /// The model that the record stands for. Both have the same type of identifier.
    associatedtype ModelType: Identifiable & SendableMetatype

    /// The model's type of identifier.
    associatedtype UidType = ModelType.ID
}
