import CompactCollections
import Foundation

extension URL {
    /// The URL in the form that errors may show: without secrets.
    package var withoutPassword: URL {
        guard !isFileURL, scheme != nil else { return self }
        var text = absoluteString
        if let password = password(percentEncoded: true), !password.isEmpty,
            let start = text.range(of: ":" + password + "@")
        {
            text.replaceSubrange(start, with: "@")
        }
        guard let mark = text.firstIndex(of: "?") else { return URL(string: text) ?? self }
        // `password` and `sslpassword`.
        let items = text[text.index(after: mark)...].split(separator: "&").map { item -> Substring in
            let key = item.prefix { $0 != "=" }
            return key.hasSuffix("password") ? "\(key)=" : item
        }
        return URL(string: text[..<mark] + "?" + items.joined(separator: "&")) ?? self
    }
}
