"""Website models: pages in; what each website is and has, by Yang, out."""
