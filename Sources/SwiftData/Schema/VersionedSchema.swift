/// A version of the models of a program.
public protocol VersionedSchema: SendableMetatype {
    /// The model classes.
    static var models: [any PersistentModel.Type] { get }
    /// The version.
    static var versionIdentifier: Schema.Version { get }
}
