import Foundation
import KeyedArchives

/// The words of a model: the file `<Name>Model.strings` beside a model `<Name>`, in the folder of a language or none.
enum ModelStrings {
    /// - Parameters:
    ///   - url: the model's file or package.
    ///   - languages: the languages that are wanted, the most wanted first.
    /// - Returns: the words in the first of these languages that has a file, else those for all languages; nil if there
    ///   is no file, or it holds no words.
    static func dictionary(beside url: URL, languages: [String] = preferredLanguages()) -> [String: String]? {
        let folder = url.deletingLastPathComponent()
        let name = url.deletingPathExtension().lastPathComponent + "Model.strings"
        let folders = (languages.flatMap(spellings) + ["Base"]).map { folder.appendingPathComponent($0 + ".lproj") }
        for place in folders + [folder] {
            guard let data = FileManager.default.contents(atPath: place.appendingPathComponent(name).path) else {
                continue
            }
            return (try? PropertyList.foundationObject(of: data) as? [String: Any])?.compactMapValues { $0 as? String }
        }
        return nil
    }

    /// The folders of a language: `de-AT` is also written `de_AT`, and what is not there for Austria is for all who
    /// speak German.
    private static func spellings(of language: String) -> [String] {
        let parts = language.split { $0 == "-" || $0 == "_" }
        return (1...max(parts.count, 1)).reversed().flatMap { count -> [String] in
            let known = parts.prefix(count)
            return count < 2
                ? [known.joined()] : [known.joined(separator: "-"), known.joined(separator: "_")]
        }
    }

    /// The language of the environment, by POSIX's variables, which Foundation does not look at on Linux; then
    /// Foundation's.
    static func preferredLanguages(
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> [String] {
        let values = ["LC_ALL", "LC_MESSAGES", "LANG"].compactMap { environment[$0] }
        let value = values.first { !$0.isEmpty }?.prefix { $0 != "." && $0 != "@" } ?? ""
        return (value.isEmpty || value == "C" || value == "POSIX" ? [] : [String(value)]) + Locale.preferredLanguages
    }
}
