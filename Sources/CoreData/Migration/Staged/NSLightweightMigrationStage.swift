/// A step of a staged migration without code: versions of a model between which mappings can be inferred.
open class NSLightweightMigrationStage: NSMigrationStage {
    /// The version checksums of the models, in the order of the versions.
    public let versionChecksums: [String]

    /// Creates a stage over versions of a model, in order, by their version checksums.
    ///
    /// - Parameter versionChecksums: the `versionChecksum` of each version.
    public init(_ versionChecksums: [String]) {
        self.versionChecksums = versionChecksums
        super.init()
    }
}
