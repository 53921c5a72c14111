/// A setting for whoever starts a program: a launch argument of Core Data's, or an environment variable.
package struct DebugSetting: Sendable {
    /// The name of the argument, without the hyphen, and of an environment variable.
    let name: String
    /// Another environment variable: shells cannot set names with dots.
    let variable: String

    /// - Parameters:
    ///   - name: the name of the argument, without the hyphen: `com.apple.CoreData.SQLDebug`.
    ///   - variable: the name of an environment variable that a shell can set.
    package init(name: String, variable: String) { (self.name, self.variable) = (name, variable) }

    /// How much is asked for: 0 for nothing, 1 for `YES`.
    package func level(arguments: [String], environment: [String: String]) -> Int {
        if let position = arguments.firstIndex(of: "-" + name), position + 1 < arguments.count {
            return Self.level(arguments[position + 1])
        }
        return [name, variable].lazy.compactMap { environment[$0].map(Self.level) }.max() ?? 0
    }

    private static func level(_ value: String) -> Int { max(Int(value) ?? (value.uppercased() == "YES" ? 1 : 0), 0) }
}
