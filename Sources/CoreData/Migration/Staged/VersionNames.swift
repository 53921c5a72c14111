import CompactCollections

/// Gives each version of a model one name, although it has several checksums: Apple's and ours, which are computed
/// differently. Pure.
struct VersionNames {
    private let names: [String: String]

    /// - Parameter versions: the checksums of versions; sets with a common checksum are the same version.
    init(_ versions: [Set<String>]) {
        var merged: [Set<String>] = []
        for version in versions {
            let same = merged.filter { !$0.isDisjoint(with: version) }
            merged.removeAll { !$0.isDisjoint(with: version) }
            merged.append(same.reduce(version) { $0.union($1) })
        }
        var names: [String: String] = [:]
        for version in merged {
            guard let name = version.min() else { continue }
            for checksum in version { names[checksum] = name }
        }
        self.names = names
    }

    /// The name of the version with a checksum; the checksum itself if it is unknown.
    func name(_ checksum: String) -> String { names[checksum] ?? checksum }

    /// The name of the version with some checksums.
    func name(of checksums: Set<String>) -> String { checksums.min().map(name) ?? "" }
}
