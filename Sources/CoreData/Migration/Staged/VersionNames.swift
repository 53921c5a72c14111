/// One name for each version of a model that goes by several checksums: Apple's and ours, which are computed differently. Pure.
struct VersionNames {
    private let names: [String: String]

    /// - Parameter versions: the checksums of versions; sets that have one in common are of one version.
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

    /// The name of the version that a checksum is of; the checksum itself where nothing else is known of it.
    func name(_ checksum: String) -> String { names[checksum] ?? checksum }

    /// The name of the version that goes by checksums.
    func name(of checksums: Set<String>) -> String { checksums.min().map(name) ?? "" }
}
