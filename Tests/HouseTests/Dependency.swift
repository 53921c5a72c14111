/// A file's use of a name that another folder of its target declares.
struct Dependency {
    let path: String
    let folder: String
    let name: String
    /// The folder that declares the name.
    let home: String

    var description: String { "\(path) names \(name), of \(home), which is above \(folder)" }

    static func all(in target: String) throws -> [Dependency] { try cached.get()[target] ?? [] }

    private static let cached = Result { () throws -> [String: [Dependency]] in
        let files = try House.files()
        return Dictionary(uniqueKeysWithValues: Rooms.order.keys.map { ($0, all(in: $0, files)) })
    }

    private static func all(in target: String, _ files: [House.File]) -> [Dependency] {
        let homes = homes(of: target, files)
        return files.filter { $0.target == target }.flatMap { file in
            guard let folder = file.folder else { return [Dependency]() }
            return file.code.all.intersection(homes.keys).sorted().compactMap { name in
                guard let home = homes[name], home != folder else { return nil }
                return Dependency(path: file.path, folder: folder, name: name, home: home)
            }
        }
    }

    /// The folder of each type, and of each member of the shells, that is declared in one folder only.
    private static func homes(of target: String, _ files: [House.File]) -> [String: String] {
        let shells = Rooms.shells[target] ?? []
        var homes: [String: Set<String>] = [:]
        for file in files where file.target == target {
            guard let folder = file.folder else { continue }
            for type in file.code.types.subtracting(shells) { homes[type, default: []].insert(folder) }
        }
        for (member, folders) in members(of: shells, in: target, files) { homes[member] = folders }
        return homes.compactMapValues { $0.count == 1 ? $0.first : nil }
    }

    /// The folders of the functions and variables that extensions of the shells declare. Those whose name is declared
    /// anywhere else, in any target, are left out: a text does not say which of them is meant.
    private static func members(
        of shells: Set<String>, in target: String, _ files: [House.File]
    ) -> [String: Set<String>] {
        var members: [String: Set<String>] = [:]
        var others: Set<String> = []
        for file in files {
            others.formUnion(file.code.others)
            others.formUnion(file.code.types)
            for (type, names) in file.code.members {
                guard file.target == target, shells.contains(type), let folder = file.folder else {
                    others.formUnion(names)
                    continue
                }
                for name in names { members[name, default: []].insert(folder) }
            }
        }
        return members.filter { !others.contains($0.key) }
    }
}
