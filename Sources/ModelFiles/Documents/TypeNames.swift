extension String {
    /// The text of a type with other names in it: of `[String: App.Route]` these are `String` and `App.Route`. A
    /// leading point is part of a name.
    package func mapTypeNames(_ transform: (String) -> String) -> String {
        var result = ""
        var name = ""
        func add() {
            result += name.isEmpty || name == "any" ? name : transform(name)
            name = ""
        }
        for character in self {
            if character.isLetter || character.isNumber || "_.$".contains(character) {
                name.append(character)
            } else {
                add()
                result.append(character)
            }
        }
        add()
        return result
    }
}
